#include "jinja/rendering.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "jinja/numbers.hpp"

namespace glassformer::jinja {

void Rendering::fail(const char* problem) const { fail(Message(problem)); }

void Rendering::fail(const Message& problem) const { fail(ErrorCode::unsupported, problem); }

void Rendering::fail(ErrorCode code, const Message& problem) const {
  throw_error(code, {"chat_template: line {}: {}", {line, problem}});
}

void Rendering::fail_limit(const char* things, std::uint64_t most) const {
  fail(ErrorCode::too_large, {"expected at most {} {}, got more", {most, things}});
}

void Rendering::step(std::size_t count) {
  if (count > steps_left_) fail_limit("steps", limits_.steps);
  steps_left_ -= count;
}

void Rendering::scan(std::size_t bytes) { step(bytes / 64); }

void Rendering::expect_space(std::size_t bytes) const {
  if (bytes > limits_.value_bytes || memory_.used > limits_.value_bytes - bytes) {
    fail_limit("bytes of values", limits_.value_bytes);
  }
}

void Rendering::expect_output(std::size_t bytes) const {
  if (bytes > limits_.output_bytes) fail_limit("bytes of text", limits_.output_bytes);
}

Level::Level(Rendering& rendering) : rendering_(rendering) {
  if (rendering.depth == max_evaluation_depth) {
    rendering.fail_limit("levels of expressions, statements and calls", max_evaluation_depth);
  }
  ++rendering.depth;
}

Value Rendering::string(std::string text) {
  scan(text.size());
  text.shrink_to_fit();
  const std::size_t bytes = text.capacity();
  return own(Kind::string, new Text(std::move(text)), bytes + sizeof(Text), 0);
}

Value Rendering::markup(std::string text) {
  Value value = string(std::move(text));
  value.object<Text>().is_markup = true;
  return value;
}

Value Rendering::sequence(Kind kind, std::vector<Value> items) {
  step(items.size() / 4);
  const std::size_t bytes = items.capacity() * sizeof(Value);
  auto* list = new List(std::move(items));
  return own(kind, list, bytes + sizeof(List), list->depth - 1);
}

Value Rendering::own(Dict* dict) {
  const std::size_t bytes = dict->entries.capacity() * (sizeof(Dict::Entry) + 12);
  return own(Kind::dict, dict, bytes + sizeof(Dict), std::max<std::size_t>(dict->depth, 1) - 1);
}

Value Rendering::own(Kind kind, Object* object, std::size_t bytes, std::size_t contents) {
  Value value(kind, object);
  if (kind != Kind::string) object->depth = contents + 1;
  object->count_in(memory_, bytes);
  expect_space(0);
  if (contents >= max_value_depth) fail_limit("levels of values", max_value_depth);
  return value;
}

bool is_markup(const Value& value) { return value.is_string() && value.text().is_markup; }

const char* type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return is_markup(value) ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::range:
      return "range";
    case Kind::view:
      switch (value.object<View>().part) {
        case View::Part::keys:
          return "dict_keys";
        case View::Part::values:
          return "dict_values";
        case View::Part::items:
          return "dict_items";
      }
      break;
    case Kind::iterator:
      return "generator";
    case Kind::name_space:
      return "Namespace";
    case Kind::loop:
      return "LoopContext";
    case Kind::macro:
      return "Macro";
    case Kind::function:
      return "function";
    case Kind::method:
      return "builtin_function_or_method";
    case Kind::cycler:
      return "Cycler";
    case Kind::joiner:
      return "Joiner";
  }
  return "object";
}

std::int64_t length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return static_cast<std::int64_t>(value.text().length);
    case Kind::list:
    case Kind::tuple:
      return static_cast<std::int64_t>(value.items().size());
    case Kind::dict:
      return static_cast<std::int64_t>(value.entries().entries.size());
    case Kind::range:
      return value.object<Range>().length;
    case Kind::view:
      return length_of(value.object<View>().dict);
    default:
      return -1;
  }
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.integer() != 0;
    case Kind::real:
      return value.real() != 0;
    default:
      return length_of(value) != 0;
  }
}

std::string undefined_message(const Value& value) {
  const auto& undefined = value.object<Undefined>();
  if (!undefined.message.empty()) return undefined.message;
  // The name is a text, a number or another small value.
  Rendering rendering({});
  const std::string name = repr_of(rendering, undefined.name);
  if (!undefined.owner) return name + " is undefined";
  if (undefined.is_unsafe) {
    return "access to attribute " + name + " of '" + undefined.owner + "' object is unsafe.";
  }
  if (!undefined.name.is_string()) {
    return std::string(undefined.owner) + " has no element " + name;
  }
  return '\'' + std::string(undefined.owner) + "' has no attribute " + name;
}

namespace {

int order(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

int compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return order(a.integer(), b.integer());
  if (a.is(Kind::real) && b.is(Kind::real)) {
    return std::isnan(a.real()) || std::isnan(b.real()) ? unordered : order(a.real(), b.real());
  }
  const double real = a.is(Kind::real) ? a.real() : b.real();
  if (std::isnan(real)) return unordered;
  return a.is(Kind::real) ? -compare_exactly(b.integer(), real)
                          : compare_exactly(a.integer(), real);
}

bool are_equal_dicts(Rendering& rendering, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(rendering, entry.key);
    return other && are_equal(rendering, entry.value, *other);
  });
}

bool are_equal_ranges(const Range& a, const Range& b) {
  if (a.length != b.length) return false;
  return a.length == 0 || (a.start == b.start && (a.length == 1 || a.step == b.step));
}

}  // namespace

bool are_equal(Rendering& rendering, const Value& a, const Value& b) {
  rendering.step();
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      if (a.string().size() != b.string().size()) return false;
      rendering.scan(a.string().size());
      return a.string() == b.string();
    case Kind::list:
    case Kind::tuple:
      return a.shared() == b.shared() ||
             std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                        [&](const Value& x, const Value& y) { return are_equal(rendering, x, y); });
    case Kind::dict:
      return a.shared() == b.shared() || are_equal_dicts(rendering, a.entries(), b.entries());
    case Kind::range:
      return are_equal_ranges(a.object<Range>(), b.object<Range>());
    case Kind::view:
      if (a.object<View>().part == View::Part::values) return a.shared() == b.shared();
      rendering.fail("comparing the keys or items of dicts is not supported");
    case Kind::method:
      if (a.shared() == b.shared()) return true;
      rendering.fail("comparing methods is not supported");
    default:
      return a.shared() == b.shared();
  }
}

int compare(Rendering& rendering, const Value& a, const Value& b, const char* sign) {
  rendering.step();
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) rendering.fail(undefined_message(*value));
  }
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    rendering.scan(std::min(a.string().size(), b.string().size()));
    return order(a.string(), b.string());  // in UTF-8, too, this is the order of code points
  }
  if (!a.is_sequence() || a.kind() != b.kind()) {
    rendering.fail({"'{}' not supported between instances of '{}' and '{}'",
                    {sign, type_name(a), type_name(b)}});
  }
  const std::vector<Value>& left = a.items();
  const std::vector<Value>& right = b.items();
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (!are_equal(rendering, left[i], right[i]))
      return compare(rendering, left[i], right[i], sign);
  }
  return order(left.size(), right.size());
}

}  // namespace glassformer::jinja
