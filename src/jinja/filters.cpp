#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/heap_sort.hpp"
#include "jinja/evaluator.hpp"
#include "jinja/letters.hpp"
#include "jinja/numbers.hpp"
#include "jinja/texts.hpp"

namespace glassformer::jinja {
namespace {

bool is_given(const Value& value) { return !value.is_missing(); }

bool flag(const Value& value) { return is_given(value) && is_true(value); }

const Value& expect_defined(Evaluator& evaluator, const Value& value) {
  if (value.is_undefined()) evaluator.fail(undefined_message(value));
  return value;
}

std::string_view expect_text(Evaluator& evaluator, const Value& value) {
  expect_defined(evaluator, value);
  if (!value.is_string()) {
    evaluator.fail({"expected a text, got a value of type '{}'", {type_name(value)}});
  }
  return value.string();
}

// --- Attributes by name

// Looks up "a.b.0" in objects.
class AttributePath {
 public:
  AttributePath(Evaluator& evaluator, const Value& attribute, Value otherwise = Value::missing())
      : otherwise_(std::move(otherwise)) {
    if (attribute.is_missing() || attribute.is_none()) return;
    if (attribute.is_string()) {
      add_parts(evaluator, attribute.string());
    } else {
      parts_.push_back(attribute);
    }
  }
  AttributePath(Evaluator& evaluator, std::string_view path) { add_parts(evaluator, path); }

  Value of(Evaluator& evaluator, Value object) const {
    for (const Value& part : parts_) {
      object = evaluator.item(object, part);
      if (object.is_undefined() && !otherwise_.is_missing() && !otherwise_.is_none()) {
        object = otherwise_;
      }
    }
    return object;
  }

 private:
  void add_parts(Evaluator& evaluator, std::string_view path) {
    for (;;) {
      const std::size_t end = path.find('.');
      const std::string_view part = path.substr(0, end);
      std::int64_t number = 0;
      if (!part.empty() && part.find_first_not_of("0123456789") == part.npos) {
        if (!parse_integer(evaluator, part, 10, number)) evaluator.fail("invalid attribute");
        parts_.emplace_back(number);
      } else {
        parts_.push_back(evaluator.string(std::string(part)));
      }
      if (end == path.npos) return;
      path.remove_prefix(end + 1);
    }
  }

  std::vector<Value> parts_;
  Value otherwise_ = Value::missing();
};

Value without_case(Evaluator& evaluator, Value value, bool is_case_sensitive) {
  if (is_case_sensitive || !value.is_string()) return value;
  evaluator.scan(value.string().size() * 8);
  return evaluator.string(convert_case(value.string(), LetterCase::lower));
}

// Returns the positions of the keys in ascending or descending order. Equal keys keep their order.
std::vector<std::size_t> order_of(Evaluator& evaluator, const std::vector<Value>& keys,
                                  bool is_reverse) {
  evaluator.step(keys.size() * 4);
  return sorted_order(keys.size(), [&](std::size_t a, std::size_t b) {
    if (is_reverse) std::swap(a, b);
    return compare(evaluator, keys[a], keys[b], "<") == -1;
  });
}

// --- Iterators

// Applies a filter to each item, or looks up an attribute of it.
struct MapIterator : Iterator {
  bool next(Evaluator& evaluator, Value& item) override {
    if (!is_prepared) prepare(evaluator);
    Value each;
    if (is_ended || !evaluator.next(source, each)) return false;
    if (path) {
      item = path->of(evaluator, std::move(each));
    } else {
      const Level level(evaluator);
      item = evaluator.call_builtin(*filter, each, arguments);
    }
    return true;
  }

  void prepare(Evaluator& evaluator) {
    is_prepared = true;
    is_ended = !is_true(iterable);
    if (is_ended) return;
    if (arguments.positional.empty() && arguments.find("attribute")) {
      const Value* otherwise = arguments.find("default");
      for (const auto& [name, value] : arguments.named) {
        if (name.string() != "attribute" && name.string() != "default") {
          evaluator.fail({"Unexpected keyword argument {}", {quoted(name.string())}});
        }
      }
      path = std::make_unique<AttributePath>(evaluator, *arguments.find("attribute"),
                                             otherwise ? *otherwise : Value::missing());
    } else {
      if (arguments.positional.empty()) evaluator.fail("map requires a filter argument");
      filter = &evaluator.filter_named(expect_text(evaluator, arguments.positional[0]));
      arguments.positional.erase(arguments.positional.begin());
    }
    source = evaluator.iterate(iterable);
  }

  Value iterable, source;
  Arguments arguments;
  bool is_prepared = false, is_ended = false;
  const Builtin* filter = nullptr;
  std::unique_ptr<AttributePath> path;
};

// Yields the items that pass a test, or the others.
struct SelectIterator : Iterator {
  bool next(Evaluator& evaluator, Value& item) override {
    if (!is_prepared) prepare(evaluator);
    if (is_ended) return false;
    for (Value each; evaluator.next(source, each);) {
      if (passes(evaluator, each) != is_reject) {
        item = std::move(each);
        return true;
      }
    }
    return false;
  }

  void prepare(Evaluator& evaluator) {
    is_prepared = true;
    is_ended = !is_true(iterable);
    if (is_ended) return;
    std::size_t first = 0;
    if (has_attribute) {
      if (arguments.positional.empty()) evaluator.fail("Missing parameter for attribute name");
      path = std::make_unique<AttributePath>(evaluator, arguments.positional[first++]);
    }
    if (arguments.positional.size() > first) {
      test = &evaluator.test_named(expect_text(evaluator, arguments.positional[first++]));
    }
    arguments.positional.erase(arguments.positional.begin(),
                               arguments.positional.begin() + static_cast<std::ptrdiff_t>(first));
    source = evaluator.iterate(iterable);
  }

  bool passes(Evaluator& evaluator, const Value& item) const {
    const Value value = path ? path->of(evaluator, item) : item;
    if (!test) return is_true(value);
    const Level level(evaluator);
    return is_true(evaluator.call_builtin(*test, value, arguments));
  }

  Value iterable, source;
  Arguments arguments;
  bool is_prepared = false, is_ended = false, is_reject = false, has_attribute = false;
  const Builtin* test = nullptr;
  std::unique_ptr<AttributePath> path;
};

struct UniqueIterator : Iterator {
  explicit UniqueIterator(AttributePath attribute) : path(std::move(attribute)) {}

  bool next(Evaluator& evaluator, Value& item) override {
    if (source.is_none()) source = evaluator.iterate(iterable);
    for (Value each; evaluator.next(source, each);) {
      Value key = without_case(evaluator, path.of(evaluator, each), is_case_sensitive);
      if (seen.find(evaluator, key)) continue;
      seen.set(evaluator, std::move(key), {});
      evaluator.expect_space(seen.entries.size() * sizeof(Dict::Entry));
      item = std::move(each);
      return true;
    }
    return false;
  }

  Value iterable, source;
  AttributePath path;
  bool is_case_sensitive = false;
  Dict seen;
};

struct BatchIterator : Iterator {
  bool next(Evaluator& evaluator, Value& item) override {
    if (source.is_none()) source = evaluator.iterate(iterable);
    std::vector<Value> batch;
    if (is_given(first)) batch.push_back(std::exchange(first, Value::missing()));
    for (Value each; evaluator.next(source, each);) {
      if (static_cast<std::int64_t>(batch.size()) == count) {
        first = std::move(each);
        item = evaluator.list(std::move(batch));
        return true;
      }
      batch.push_back(std::move(each));
      evaluator.expect_space(batch.size() * sizeof(Value));
    }
    if (batch.empty()) return false;
    const std::int64_t lacking = count - static_cast<std::int64_t>(batch.size());
    if (is_given(filler) && !filler.is_none() && lacking > 0) {
      if (lacking > 10'000'000) evaluator.fail_limit("items of a list", 10'000'000);
      evaluator.expect_space(static_cast<std::size_t>(count) * sizeof(Value));
      batch.resize(static_cast<std::size_t>(count), filler);
    }
    item = evaluator.list(std::move(batch));
    return true;
  }

  Value iterable, source, filler;
  Value first = Value::missing();  // of the next batch
  std::int64_t count = 0;
};

struct SliceIterator : Iterator {
  bool next(Evaluator& evaluator, Value& item) override {
    if (number == 0) {
      items = evaluator.list(evaluator.items_of(items));
      if (slices == 0) evaluator.fail("integer division or modulo by zero");
    }
    if (number >= slices) return false;
    const auto length = static_cast<std::int64_t>(items.items().size());
    const std::int64_t each = length / slices;
    const std::int64_t extra = length % slices;
    const std::int64_t begin = number * each + std::min(number, extra);
    const std::int64_t end = begin + each + static_cast<std::int64_t>(number < extra);
    const auto first = items.items().begin();
    std::vector<Value> part(first + static_cast<std::ptrdiff_t>(begin),
                            first + static_cast<std::ptrdiff_t>(end));
    if (is_given(filler) && !filler.is_none() && number >= extra) part.push_back(filler);
    ++number;
    item = evaluator.list(std::move(part));
    return true;
  }

  Value items, filler;
  std::int64_t slices = 0, number = 0;
};

Value own_iterator(Evaluator& evaluator, Iterator* iterator, const Value& iterable,
                   std::size_t bytes) {
  return evaluator.own(Kind::iterator, iterator, bytes, iterable.depth());
}

std::size_t deepest_of(const Arguments& arguments) {
  std::size_t depth = 0;
  for (const Value& value : arguments.positional) depth = std::max(depth, value.depth());
  for (const auto& [name, value] : arguments.named) depth = std::max(depth, value.depth());
  return depth;
}

Value filter_map(Evaluator& evaluator, Value* values, const Arguments& all) {
  auto* iterator = new MapIterator;
  iterator->iterable = values[0];
  iterator->arguments = all;
  return evaluator.own(Kind::iterator, iterator, sizeof(MapIterator),
                       std::max(values[0].depth(), deepest_of(all)));
}

Value selected(Evaluator& evaluator, Value* values, const Arguments& all, bool is_reject,
               bool has_attribute) {
  auto* iterator = new SelectIterator;
  iterator->iterable = values[0];
  iterator->arguments = all;
  iterator->is_reject = is_reject;
  iterator->has_attribute = has_attribute;
  return evaluator.own(Kind::iterator, iterator, sizeof(SelectIterator),
                       std::max(values[0].depth(), deepest_of(all)));
}
Value filter_select(Evaluator& evaluator, Value* values, const Arguments& all) {
  return selected(evaluator, values, all, false, false);
}
Value filter_reject(Evaluator& evaluator, Value* values, const Arguments& all) {
  return selected(evaluator, values, all, true, false);
}
Value filter_selectattr(Evaluator& evaluator, Value* values, const Arguments& all) {
  return selected(evaluator, values, all, false, true);
}
Value filter_rejectattr(Evaluator& evaluator, Value* values, const Arguments& all) {
  return selected(evaluator, values, all, true, true);
}

Value filter_unique(Evaluator& evaluator, Value* values, const Arguments&) {
  auto* iterator = new UniqueIterator(AttributePath(evaluator, values[2]));
  iterator->iterable = values[0];
  iterator->is_case_sensitive = flag(values[1]);
  return own_iterator(evaluator, iterator, values[0], sizeof(UniqueIterator));
}

Value filter_batch(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t count = evaluator.integer_of(values[1]);
  auto* iterator = new BatchIterator;
  iterator->iterable = values[0];
  iterator->count = count;
  iterator->filler = values[2];
  return own_iterator(evaluator, iterator, values[0], sizeof(BatchIterator));
}

Value filter_slice(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t slices = evaluator.integer_of(values[1]);
  auto* iterator = new SliceIterator;
  iterator->items = values[0];
  iterator->slices = slices;
  iterator->filler = values[2];
  return own_iterator(evaluator, iterator, values[0], sizeof(SliceIterator));
}

Value filter_items(Evaluator& evaluator, Value* values, const Arguments&) {
  if (values[0].is_undefined()) return evaluator.iterate(values[0]);
  if (!values[0].is(Kind::dict)) evaluator.fail("Can only get item pairs from a mapping.");
  auto* view = new View;
  view->dict = values[0];
  view->part = View::Part::items;
  return evaluator.iterate(evaluator.own(Kind::view, view, sizeof(View), values[0].depth()));
}

// --- Sequences

const Value& expect_countable(Evaluator& evaluator, const Value& value) {
  if (length_of(value) >= 0) return value;
  evaluator.fail({"object of type '{}' has no len()", {type_name(value)}});
}

Value filter_length(Evaluator& evaluator, Value* values, const Arguments&) {
  if (values[0].is(Kind::loop)) return evaluator.attribute(values[0], Value("length"));
  return length_of(expect_countable(evaluator, values[0]));
}

// The argument `reverse` of Python's sorted() is an integer.
bool is_reversed(Evaluator& evaluator, const Value& value) {
  return is_given(value) && evaluator.integer_of(value) != 0;
}

Value filter_first(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value iterator = evaluator.iterate(values[0]);
  Value item;
  if (evaluator.next(iterator, item)) return item;
  return evaluator.undefined_because("No first item, sequence was empty.");
}

Value filter_last(Evaluator& evaluator, Value* values, const Arguments&) {
  if (values[0].is_string() && length_of(values[0]) > 0) {
    return evaluator.character(values[0], values[0].text().length - 1);
  }
  const Value iterator = evaluator.iterate_backwards(expect_defined(evaluator, values[0]));
  if (iterator.is_missing()) {
    evaluator.fail({"'{}' object is not reversible", {type_name(values[0])}});
  }
  Value item;
  if (evaluator.next(iterator, item)) return item;
  return evaluator.undefined_because("No last item, sequence was empty.");
}

Value filter_list(Evaluator& evaluator, Value* values, const Arguments&) {
  return evaluator.list(evaluator.items_of(values[0]));
}

Value filter_reverse(Evaluator& evaluator, Value* values, const Arguments&) {
  if (values[0].is_string()) {
    std::string text;
    const std::string_view source = values[0].string();
    evaluator.expect_space(source.size());
    for (std::size_t end = source.size(); end > 0;) {
      std::size_t begin = end - 1;
      while ((static_cast<unsigned char>(source[begin]) & 0xC0) == 0x80) --begin;
      text += source.substr(begin, end - begin);
      end = begin;
    }
    return evaluator.string_like(values[0], std::move(text));
  }
  Value iterator = evaluator.iterate_backwards(values[0]);
  if (!iterator.is_missing()) return iterator;
  std::vector<Value> items = evaluator.items_of(values[0]);
  std::reverse(items.begin(), items.end());
  return evaluator.list(std::move(items));
}

Value filter_join(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string separator = is_given(values[1]) ? evaluator.text(values[1]) : std::string();
  const AttributePath path(evaluator, values[2]);
  const Value iterator = evaluator.iterate(values[0]);
  std::string text;
  bool is_first = true;
  for (Value each; evaluator.next(iterator, each);) {
    if (!std::exchange(is_first, false)) text += separator;
    const Value item = path.of(evaluator, std::move(each));
    if (item.is_string()) {
      text += item.string();
    } else {
      text += evaluator.text(item);
    }
    evaluator.scan(separator.size() + 64);
    if (text.size() > 4096) evaluator.expect_output(text.size());
  }
  evaluator.expect_space(text.size());
  return evaluator.string(std::move(text));
}

Value filter_sort(Evaluator& evaluator, Value* values, const Arguments&) {
  std::vector<AttributePath> paths;
  if (values[3].is_string()) {
    for (std::string_view rest = values[3].string();;) {
      const std::size_t end = rest.find(',');
      paths.emplace_back(evaluator, rest.substr(0, end));
      if (end == rest.npos) break;
      rest.remove_prefix(end + 1);
    }
  } else {
    paths.emplace_back(evaluator, values[3]);
  }
  const std::vector<Value> items = evaluator.items_of(values[0]);
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> key;
    for (const AttributePath& path : paths) {
      key.push_back(without_case(evaluator, path.of(evaluator, item), flag(values[2])));
    }
    keys.push_back(evaluator.list(std::move(key)));
  }
  std::vector<Value> sorted;
  for (const std::size_t i : order_of(evaluator, keys, is_reversed(evaluator, values[1])))
    sorted.push_back(items[i]);
  return evaluator.list(std::move(sorted));
}

Value filter_dictsort(Evaluator& evaluator, Value* values, const Arguments&) {
  expect_defined(evaluator, values[0]);
  const bool by_value =
      is_given(values[2]) && values[2].is_string() && values[2].string() == "value";
  const bool by_key =
      !is_given(values[2]) || (values[2].is_string() && values[2].string() == "key");
  if (!by_value && !by_key) {
    evaluator.fail("You can only sort by either \"key\" or \"value\"");
  }
  if (!values[0].is(Kind::dict)) {
    evaluator.fail({"'{}' object has no attribute 'items'", {type_name(values[0])}});
  }
  const std::vector<Dict::Entry>& entries = values[0].entries().entries;
  std::vector<Value> keys;
  for (const Dict::Entry& entry : entries) {
    keys.push_back(without_case(evaluator, by_value ? entry.value : entry.key, flag(values[1])));
  }
  std::vector<Value> sorted;
  for (const std::size_t i : order_of(evaluator, keys, is_reversed(evaluator, values[3]))) {
    sorted.push_back(evaluator.tuple({entries[i].key, entries[i].value}));
  }
  return evaluator.list(std::move(sorted));
}

Value filter_groupby(Evaluator& evaluator, Value* values, const Arguments&) {
  const AttributePath path(evaluator, values[1], values[2]);
  const bool is_case_sensitive = flag(values[3]);
  const std::vector<Value> items = evaluator.items_of(values[0]);
  std::vector<Value> names, keys;
  for (const Value& item : items) {
    names.push_back(path.of(evaluator, item));
    keys.push_back(without_case(evaluator, names.back(), is_case_sensitive));
  }
  std::vector<Value> groups;
  const std::vector<std::size_t> order = order_of(evaluator, keys, false);
  for (std::size_t i = 0; i < order.size();) {
    std::vector<Value> group;
    const std::size_t first = order[i];
    do group.push_back(items[order[i++]]);
    while (i < order.size() && are_equal(evaluator, keys[first], keys[order[i]]));
    Value pair = evaluator.tuple({names[first], evaluator.list(std::move(group))});
    pair.object<List>().is_group = true;
    groups.push_back(std::move(pair));
  }
  return evaluator.list(std::move(groups));
}

Value extreme(Evaluator& evaluator, Value* values, int wanted, const char* sign) {
  const Value iterator = evaluator.iterate(values[0]);
  Value best;
  if (!evaluator.next(iterator, best)) {
    return evaluator.undefined_because("No aggregated item, sequence was empty.");
  }
  const AttributePath path(evaluator, values[2]);
  const auto key_of = [&](const Value& item) {
    return without_case(evaluator, path.of(evaluator, item), flag(values[1]));
  };
  Value best_key = key_of(best);
  for (Value each; evaluator.next(iterator, each);) {
    Value key = key_of(each);
    if (compare(evaluator, key, best_key, sign) != wanted) continue;
    best = std::move(each);
    best_key = std::move(key);
  }
  return best;
}
Value filter_min(Evaluator& evaluator, Value* values, const Arguments&) {
  return extreme(evaluator, values, -1, "<");
}
Value filter_max(Evaluator& evaluator, Value* values, const Arguments&) {
  return extreme(evaluator, values, 1, ">");
}

Value filter_sum(Evaluator& evaluator, Value* values, const Arguments&) {
  const AttributePath path(evaluator, values[1]);
  Value sum = is_given(values[2]) ? values[2] : Value(std::int64_t{0});
  if (sum.is_string()) evaluator.fail("sum() can't sum strings [use ''.join(seq) instead]");
  const Value iterator = evaluator.iterate(values[0]);
  for (Value each; evaluator.next(iterator, each);) {
    sum = evaluator.operate(Operator::add, sum, path.of(evaluator, std::move(each)));
  }
  return sum;
}

// --- Numbers

Value filter_abs(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value& value = expect_defined(evaluator, values[0]);
  if (value.is(Kind::real)) return std::abs(value.real());
  if (!value.is_integral()) {
    evaluator.fail({"bad operand type for abs(): '{}'", {type_name(value)}});
  }
  if (value.integer() >= 0) return value.integer();
  return evaluator.operate(Operator::subtract, std::int64_t{0}, value);
}

Value filter_int(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value& value = expect_defined(evaluator, values[0]);
  const Value otherwise = is_given(values[1]) ? values[1] : Value(std::int64_t{0});
  double real = 0;
  if (value.is_integral()) return value.integer();
  if (value.is(Kind::real)) {
    real = value.real();
    if (std::isinf(real)) evaluator.fail("cannot convert float infinity to integer");
  } else if (value.is_string()) {
    const std::int64_t base = is_given(values[2]) ? evaluator.integer_of(values[2]) : 10;
    std::int64_t number = 0;
    if (parse_integer(evaluator, value.string(), base, number)) return number;
    if (!parse_python_float(value.string(), real) || std::isinf(real)) return otherwise;
  } else {
    return otherwise;
  }
  if (std::isnan(real)) return otherwise;
  std::int64_t number = 0;
  if (!truncate_to_integer(real, number)) {
    evaluator.fail("integers of more than 64 bits are not supported");
  }
  return number;
}

Value filter_float(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value& value = expect_defined(evaluator, values[0]);
  if (value.is(Kind::real)) return value;
  if (value.is_integral()) return static_cast<double>(value.integer());
  double number = 0;
  if (value.is_string() && parse_python_float(value.string(), number)) return number;
  return is_given(values[1]) ? values[1] : Value(0.0);
}

std::int64_t power_of_ten(std::int64_t exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

Value filter_round(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value& value = expect_defined(evaluator, values[0]);
  const Value precision = is_given(values[1]) ? values[1] : std::int64_t{0};
  const std::string_view method =
      is_given(values[2]) ? expect_text(evaluator, values[2]) : "common";
  const bool is_common = method == "common";
  if (!is_common && method != "ceil" && method != "floor") {
    evaluator.fail("method must be common, ceil or floor");
  }
  if (!value.is_number()) {
    evaluator.fail({"type {} doesn't define __round__ method", {type_name(value)}});
  }
  if (is_common) {
    const std::int64_t places = evaluator.integer_of(precision);
    if (value.is(Kind::real)) {
      if (!std::isfinite(value.real())) return value;
      const double rounded = round_decimal(value.real(), places);
      if (std::isinf(rounded)) evaluator.fail("rounded value too large to represent");
      return rounded;
    }
    if (places >= 0) return value.integer();
    if (places < -18) evaluator.fail("rounding to so many digits is not supported");
    const std::int64_t unit = power_of_ten(-places);
    std::int64_t rest = value.integer() % unit;
    if (rest < 0) rest += unit;
    const Value low = evaluator.operate(Operator::subtract, value, rest);
    const bool is_odd = low.integer() / unit % 2 != 0;
    const bool is_up = rest > unit - rest || (rest == unit - rest && is_odd);
    return is_up ? evaluator.operate(Operator::add, low, unit) : low;
  }
  const Value scale = evaluator.operate(Operator::power, std::int64_t{10}, precision);
  const Value scaled = evaluator.operate(Operator::multiply, value, scale);
  Value whole = scaled;
  if (scaled.is(Kind::real)) {
    std::int64_t number = 0;
    const double real = method == "ceil" ? std::ceil(scaled.real()) : std::floor(scaled.real());
    if (!truncate_to_integer(real, number)) {
      evaluator.fail("integers of more than 64 bits are not supported");
    }
    whole = number;
  }
  return evaluator.operate(Operator::divide, whole, scale);
}

Value filter_filesizeformat(Evaluator& evaluator, Value* values, const Arguments& all) {
  double bytes = 0;
  const Value& value = expect_defined(evaluator, values[0]);
  if (value.is_string()) {
    if (!parse_python_float(value.string(), bytes)) evaluator.fail("could not convert to float");
  } else if (value.is_number()) {
    Value copies[2] = {value, Value::missing()};
    bytes = filter_float(evaluator, copies, all).real();
  } else {
    evaluator.fail({"expected a number, got a value of type '{}'", {type_name(value)}});
  }
  if (!std::isfinite(bytes)) evaluator.fail("expected a finite number");
  const bool is_binary = flag(values[1]);
  const double base = is_binary ? 1024 : 1000;
  if (bytes == 1) return "1 Byte";
  if (bytes < base) {
    std::int64_t whole = 0;
    if (!truncate_to_integer(bytes, whole)) evaluator.fail("expected a smaller number");
    return evaluator.string(std::to_string(whole) + " Bytes");
  }
  double unit = base;
  for (std::size_t i = 0; i < 8; ++i) {
    unit = is_binary ? unit * 1024 : parse_float("1e" + std::to_string(3 * (i + 2)));
    if (bytes < unit || i == 7) {
      std::string text = fixed_digits(base * bytes / unit, 1) + ' ';
      text += (is_binary ? "KMGTPEZY" : "kMGTPEZY")[i];
      return evaluator.string(text + (is_binary ? "iB" : "B"));
    }
  }
  return {};
}

// --- Texts

// Returns the text of a value for filters that keep its mark as HTML.
std::string soft_text(Evaluator& evaluator, const Value& value) {
  std::string text = evaluator.text(value);
  evaluator.expect_space(text.size());
  return text;
}

Value in_case(Evaluator& evaluator, const Value& value, LetterCase to) {
  const std::string text = soft_text(evaluator, value);
  evaluator.scan(text.size() * 8);
  return evaluator.string_like(value, convert_case(text, to));
}
Value filter_lower(Evaluator& evaluator, Value* values, const Arguments&) {
  return in_case(evaluator, values[0], LetterCase::lower);
}
Value filter_upper(Evaluator& evaluator, Value* values, const Arguments&) {
  return in_case(evaluator, values[0], LetterCase::upper);
}
Value filter_capitalize(Evaluator& evaluator, Value* values, const Arguments&) {
  return in_case(evaluator, values[0], LetterCase::capitalized);
}

Value filter_title(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string text = soft_text(evaluator, values[0]);
  evaluator.scan(text.size() * 8);
  const auto separates = [](char32_t code) {
    return is_space(code) || std::u32string_view(U"-({[<").find(code) != std::u32string_view::npos;
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    std::size_t first = 0;  // the end of the first character of the word
    while (at < text.size()) {
      std::size_t next = at;
      if (separates(next_character(text, next))) break;
      at = next;
      if (first == 0) first = next;
    }
    const std::string_view word = std::string_view(text).substr(begin, at - begin);
    if (!word.empty()) {
      result += convert_case(word.substr(0, first - begin), LetterCase::upper);
      result += convert_case(word.substr(first - begin), LetterCase::lower);
    }
    const std::size_t end = at;
    while (at < text.size()) {
      std::size_t next = at;
      if (!separates(next_character(text, next))) break;
      at = next;
    }
    result += text.substr(end, at - end);
  }
  return evaluator.string(std::move(result));
}

Value filter_string(Evaluator& evaluator, Value* values, const Arguments&) {
  if (values[0].is_string()) return values[0];
  return evaluator.string(evaluator.text(values[0]));
}

Value filter_safe(Evaluator& evaluator, Value* values, const Arguments&) {
  return evaluator.markup(evaluator.text(values[0]));
}

Value filter_escape(Evaluator& evaluator, Value* values, const Arguments&) {
  if (is_markup(values[0])) return values[0];
  const Value text = evaluator.string(evaluator.text(values[0]));
  evaluator.expect_space(text.string().size() * 5);
  return evaluator.markup(escape_html(text));
}

Value filter_forceescape(Evaluator& evaluator, Value* values, const Arguments& all) {
  Value text = evaluator.string(evaluator.text(values[0]));
  return filter_escape(evaluator, &text, all);
}

Value filter_center(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t width = is_given(values[1]) ? evaluator.integer_of(values[1]) : 80;
  const std::string text = soft_text(evaluator, values[0]);
  return evaluator.string_like(values[0], padded(evaluator, text, width, " ", Alignment::center));
}

Value filter_trim(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string text = soft_text(evaluator, values[0]);
  const bool has_characters = is_given(values[1]) && !values[1].is_none();
  const std::string_view characters = has_characters ? expect_text(evaluator, values[1]) : "";
  const std::string_view result =
      stripped(evaluator, text, has_characters ? &characters : nullptr, true, true);
  return evaluator.string_like(values[0], std::string(result));
}

Value filter_replace(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t count =
      is_given(values[3]) && !values[3].is_none() ? evaluator.integer_of(values[3]) : -1;
  return evaluator.string(replaced(evaluator, evaluator.text(values[0]), evaluator.text(values[1]),
                                   evaluator.text(values[2]), count));
}

Value filter_format(Evaluator& evaluator, Value* values, const Arguments& all) {
  if (!all.positional.empty() && !all.named.empty()) {
    evaluator.fail("can't handle positional and keyword arguments at the same time");
  }
  if (is_markup(values[0])) evaluator.fail("formatting escaped text is not supported");
  Value arguments = evaluator.tuple(all.positional);
  if (!all.named.empty()) {
    auto dict = std::make_unique<Dict>();
    for (const auto& [name, value] : all.named) dict->set(evaluator, name, value);
    arguments = evaluator.own(dict.release());
  }
  return evaluator.string(format_percent(evaluator, evaluator.text(values[0]), arguments));
}

Value filter_indent(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string_view text = expect_text(evaluator, values[0]);
  std::string indentation(4, ' ');
  if (is_given(values[1])) {
    if (values[1].is_string()) {
      indentation = values[1].string();
    } else {
      const std::int64_t width = evaluator.integer_of(values[1]);
      evaluator.expect_space(width > 0 ? static_cast<std::size_t>(width) : 0);
      indentation.assign(width > 0 ? static_cast<std::size_t>(width) : 0, ' ');
    }
  }
  const bool has_first = flag(values[2]);
  const bool has_blank = flag(values[3]);
  const std::string source = std::string(text) + '\n';
  std::string result;
  bool is_first = true;
  for (const std::string_view each : split_lines(evaluator, source, false)) {
    if (!is_first) result += '\n';
    if (is_first ? has_first : has_blank || !each.empty()) result += indentation;
    is_first = false;
    result += each;
    evaluator.step(1 + indentation.size() / 64);
    evaluator.expect_output(result.size());
  }
  return evaluator.string_like(values[0], std::move(result));
}

Value filter_truncate(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t length = is_given(values[1]) ? evaluator.integer_of(values[1]) : 255;
  const std::string end(is_given(values[3]) ? expect_text(evaluator, values[3]) : "...");
  const std::int64_t leeway =
      is_given(values[4]) && !values[4].is_none() ? evaluator.integer_of(values[4]) : 5;
  const auto end_length = static_cast<std::int64_t>(character_count(end));
  if (length < end_length) {
    evaluator.fail({"expected length >= {}, got {}", {end_length, length}});
  }
  if (leeway < 0) evaluator.fail({"expected leeway >= 0, got {}", {leeway}});
  const std::int64_t size = length_of(expect_countable(evaluator, values[0]));
  if (size - length <= leeway) return values[0];
  const std::string_view text = expect_text(evaluator, values[0]);
  const std::size_t kept = byte_of(values[0].text(), static_cast<std::size_t>(length - end_length));
  std::string result(text.substr(0, kept));
  if (!flag(values[2])) {
    const std::size_t space = result.rfind(' ');
    if (space != result.npos) result.resize(space);
  }
  return evaluator.string_like(values[0], result + end);
}

Value filter_wordcount(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string text = soft_text(evaluator, values[0]);
  evaluator.scan(text.size() * 8);
  std::int64_t count = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_word = is_in_class(next_character(text, at), CharacterClass::word);
    count += is_word && !in_word;
    in_word = is_word;
  }
  return count;
}

// Breaks one line into lines of at most `width` characters.
class Wrapper {
 public:
  Wrapper(Evaluator& evaluator, std::size_t width, bool breaks_words)
      : evaluator_(evaluator), width_(width), breaks_words_(breaks_words) {}

  std::vector<std::string> wrap(std::string_view text) {
    std::vector<std::string> lines;
    split(text);
    while (!chunks_.empty()) {
      evaluator_.step();
      std::string line;
      std::size_t length = 0;
      std::string_view last;
      const auto add = [&](const Chunk& chunk) {
        line += chunk.text;
        length += chunk.length;
        last = chunk.text;
      };
      if (!lines.empty() && is_blank(chunks_.back().text)) chunks_.pop_back();
      while (!chunks_.empty() && length + chunks_.back().length <= width_) {
        add(chunks_.back());
        chunks_.pop_back();
      }
      if (!chunks_.empty() && chunks_.back().length > width_) {
        if (breaks_words_) {
          Chunk& chunk = chunks_.back();
          const std::size_t count = width_ - length;
          std::size_t end = 0;
          for (std::size_t n = 0; n < count; ++n) next_character(chunk.text, end);
          add({chunk.text.substr(0, end), count});
          chunk = {chunk.text.substr(end), chunk.length - count};
        } else if (line.empty()) {
          add(chunks_.back());
          chunks_.pop_back();
        }
      }
      if (!line.empty() && is_blank(last)) line.resize(line.size() - last.size());
      if (!line.empty()) lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  struct Chunk {
    std::string_view text;
    std::size_t length;  // in characters
  };

  static bool is_wrap_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  bool is_blank(std::string_view chunk) const {
    return stripped(evaluator_, chunk, nullptr, true, true).empty();
  }
  void split(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const bool is_space_chunk = is_wrap_space(text[at]);
      while (at < text.size() && is_wrap_space(text[at]) == is_space_chunk) ++at;
      const std::string_view chunk = text.substr(begin, at - begin);
      if (chunks_.size() == chunks_.capacity()) {
        evaluator_.expect_space(chunks_.size() * 3 * sizeof(Chunk));
      }
      chunks_.push_back({chunk, character_count(chunk)});
    }
    std::reverse(chunks_.begin(), chunks_.end());
  }

  Evaluator& evaluator_;
  std::size_t width_;
  bool breaks_words_;
  std::vector<Chunk> chunks_;  // in reverse
};

Value filter_wordwrap(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string_view text = expect_text(evaluator, values[0]);
  const std::int64_t width = is_given(values[1]) ? evaluator.integer_of(values[1]) : 79;
  const bool breaks_words = !is_given(values[2]) || is_true(values[2]);
  const bool has_separator = is_given(values[3]) && !values[3].is_none();
  const std::string separator(has_separator ? expect_text(evaluator, values[3]) : "\n");
  const bool breaks_hyphens = !is_given(values[4]) || is_true(values[4]);
  if (breaks_hyphens && text.find('-') != text.npos) {
    evaluator.fail(
        "the filter 'wordwrap' supports texts with hyphens only with "
        "break_on_hyphens=false");
  }
  if (width <= 0) evaluator.fail({"invalid width {} (must be > 0)", {width}});
  evaluator.scan(text.size() * 64);
  std::string result;
  bool is_first = true;
  for (const std::string_view paragraph : split_lines(evaluator, text, false)) {
    Wrapper wrapper(evaluator, static_cast<std::size_t>(width), breaks_words);
    if (!std::exchange(is_first, false)) result += separator;
    bool is_first_line = true;
    for (const std::string& each : wrapper.wrap(paragraph)) {
      if (!std::exchange(is_first_line, false)) result += separator;
      result += each;
      evaluator.expect_output(result.size());
    }
  }
  return evaluator.string(std::move(result));
}

// Replaces the entities of HTML that html_escaped makes, and those with numbers.
std::string without_entities(Evaluator& evaluator, std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (text[0] != '&' || text.size() == 1 ||
        std::string_view("\t\n\f <&;").find(text[1]) != text.npos) {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    constexpr std::pair<std::string_view, char> entities[] = {{"&amp;", '&'}, {"&lt;", '<'},
                                                              {"&gt;", '>'},  {"&quot;", '"'},
                                                              {"&#34;", '"'}, {"&#39;", '\''}};
    const auto entity =
        std::find_if(std::begin(entities), std::end(entities),
                     [&](const auto& each) { return text.starts_with(each.first); });
    if (entity == std::end(entities)) {
      evaluator.fail("the filter 'striptags' does not support all entities of HTML");
    }
    result += entity->second;
    text.remove_prefix(entity->first.size());
  }
  return result;
}

Value filter_striptags(Evaluator& evaluator, Value* values, const Arguments&) {
  std::string text = evaluator.text(values[0]);
  evaluator.expect_space(text.size());
  evaluator.scan(text.size() * 8);
  const auto remove_between = [&](std::string_view begin, std::string_view end) {
    for (std::size_t at = 0;;) {
      const std::size_t from = text.find(begin, at);
      const std::size_t to = from == text.npos ? text.npos : text.find(end, from);
      if (to == text.npos) return;
      evaluator.scan(text.size());
      text.erase(from, to + end.size() - from);
      at = from - std::min(from, begin.size() - 1);  // the rests may form a new beginning
    }
  };
  remove_between("<!--", "-->");
  remove_between("<", ">");
  std::string words;
  for (const std::string_view word : split_spaces(evaluator, text, -1)) {
    if (!words.empty()) words += ' ';
    words += word;
  }
  return evaluator.string(without_entities(evaluator, words));
}

std::string url_quoted(Evaluator& evaluator, const Value& value, bool in_query) {
  const std::string text = evaluator.text(value);
  evaluator.expect_space(text.size() * 3);
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-' || c == '~' ||
                          (c == '/' && !in_query);
    if (is_plain) {
      result += c;
    } else if (c == ' ' && in_query) {
      result += '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
    }
  }
  return result;
}

Value filter_urlencode(Evaluator& evaluator, Value* values, const Arguments& all) {
  const Value& value = values[0];
  const bool is_iterable = value.is_undefined() || value.is_sequence() || value.is(Kind::dict) ||
                           value.is(Kind::view) || value.is(Kind::range) ||
                           value.is(Kind::iterator);
  if (!is_iterable) return evaluator.string(url_quoted(evaluator, value, false));
  const Value pairs =
      value.is(Kind::dict) ? filter_items(evaluator, values, all) : evaluator.iterate(value);
  std::string result;
  for (Value pair; evaluator.next(pairs, pair);) {
    const std::vector<Value> parts = evaluator.items_of(pair);
    if (parts.size() != 2) evaluator.fail("expected pairs of keys and values");
    if (!result.empty()) result += '&';
    result += url_quoted(evaluator, parts[0], true) + '=' + url_quoted(evaluator, parts[1], true);
    evaluator.expect_output(result.size());
  }
  return evaluator.string(std::move(result));
}

Value filter_xmlattr(Evaluator& evaluator, Value* values, const Arguments& all) {
  expect_defined(evaluator, values[0]);
  if (!values[0].is(Kind::dict)) {
    evaluator.fail({"'{}' object has no attribute 'items'", {type_name(values[0])}});
  }
  std::string result;
  for (const Dict::Entry& entry : values[0].entries().entries) {
    if (entry.value.is_none() || entry.value.is_undefined()) continue;
    const std::string_view key = expect_text(evaluator, entry.key);
    if (key.find_first_of(" \t\n\r\f\v/>=") != key.npos) {
      evaluator.fail({"Invalid character in attribute name: {}", {quoted(key)}});
    }
    if (!result.empty()) result += ' ';
    Value copies[] = {entry.key, entry.value};
    result += filter_escape(evaluator, copies, all).string();
    result += "=\"";
    result += filter_escape(evaluator, copies + 1, all).string();
    result += '"';
    evaluator.expect_output(result.size());
  }
  const bool has_space = !is_given(values[1]) || is_true(values[1]);
  if (has_space && !result.empty()) result.insert(0, 1, ' ');
  return evaluator.string(std::move(result));
}

Value filter_pprint(Evaluator& evaluator, Value* values, const Arguments&) {
  std::string text = sorted_repr_of(evaluator, values[0]);
  if (character_count(text) > 80) {
    evaluator.fail("the filter 'pprint' supports only values of at most 80 characters");
  }
  return evaluator.string(std::move(text));
}

// --- Others

Value filter_default(Evaluator& evaluator, Value* values, const Arguments&) {
  const bool is_replaced = values[0].is_undefined() || (flag(values[2]) && !is_true(values[0]));
  if (!is_replaced) return values[0];
  return is_given(values[1]) ? values[1] : evaluator.string({});
}

Value filter_attr(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value name = evaluator.string(std::string(expect_text(evaluator, values[1])));
  Value value = evaluator.own_attribute(values[0], name);
  if (!value.is_missing()) return value;
  // The message is that of an attribute that the object lacks.
  value = evaluator.attribute(values[0], name);
  return value.is_undefined() ? value : evaluator.undefined(name, type_name(values[0]));
}

Value filter_tojson(Evaluator& evaluator, Value* values, const Arguments&) {
  JsonStyle style;
  style.ascii = flag(values[1]);
  style.sorted = flag(values[4]);
  if (is_given(values[2]) && !values[2].is_none()) {
    style.indented = true;
    style.item_separator = ",";
    if (values[2].is_string()) {
      style.indent = values[2].string();
    } else {
      const std::int64_t width = evaluator.integer_of(values[2]);
      evaluator.expect_space(width > 0 ? static_cast<std::size_t>(width) : 0);
      style.indent.assign(width > 0 ? static_cast<std::size_t>(width) : 0, ' ');
    }
  }
  if (is_given(values[3]) && !values[3].is_none()) {
    const std::vector<Value> separators = evaluator.items_of(values[3]);
    if (separators.size() != 2) evaluator.fail("expected two separators");
    style.item_separator = expect_text(evaluator, separators[0]);
    style.key_separator = expect_text(evaluator, separators[1]);
  }
  return evaluator.string(json_of(evaluator, values[0], style));
}

Value filter_refused(Evaluator& evaluator, Value*, const Arguments&) {
  evaluator.fail("the filters 'random' and 'urlize' are not supported");
}

constexpr Builtin filters[] = {
    {"abs", "_x", filter_abs},
    {"attr", "obj name", filter_attr},
    {"batch", "value linecount fill_with?", filter_batch},
    {"capitalize", "s", filter_capitalize},
    {"center", "value width?", filter_center},
    {"count", "_obj", filter_length},
    {"d", "value default_value? boolean?", filter_default},
    {"default", "value default_value? boolean?", filter_default},
    {"dictsort", "value case_sensitive? by? reverse?", filter_dictsort},
    {"e", "_s", filter_escape},
    {"escape", "_s", filter_escape},
    {"filesizeformat", "value binary?", filter_filesizeformat},
    {"first", "seq", filter_first},
    {"float", "value default?", filter_float},
    {"forceescape", "value", filter_forceescape},
    {"format", "value *", filter_format},
    {"groupby", "value attribute default? case_sensitive?", filter_groupby},
    {"indent", "s width? first? blank?", filter_indent},
    {"int", "value default? base?", filter_int},
    {"items", "value", filter_items},
    {"join", "value d? attribute?", filter_join},
    {"last", "seq", filter_last},
    {"length", "_obj", filter_length},
    {"list", "value", filter_list},
    {"lower", "s", filter_lower},
    {"map", "value *", filter_map},
    {"max", "value case_sensitive? attribute?", filter_max},
    {"min", "value case_sensitive? attribute?", filter_min},
    {"pprint", "value", filter_pprint},
    {"random", "*", filter_refused},
    {"reject", "value *", filter_reject},
    {"rejectattr", "value *", filter_rejectattr},
    {"replace", "s old new count?", filter_replace},
    {"reverse", "value", filter_reverse},
    {"round", "value precision? method?", filter_round},
    {"safe", "value", filter_safe},
    {"select", "value *", filter_select},
    {"selectattr", "value *", filter_selectattr},
    {"slice", "value slices fill_with?", filter_slice},
    {"sort", "value reverse? case_sensitive? attribute?", filter_sort},
    {"string", "s", filter_string},
    {"striptags", "value", filter_striptags},
    {"sum", "iterable attribute? start?", filter_sum},
    {"title", "s", filter_title},
    {"tojson", "x ensure_ascii? indent? separators? sort_keys?", filter_tojson},
    {"trim", "value chars?", filter_trim},
    {"truncate", "s length? killwords? end? leeway?", filter_truncate},
    {"unique", "value case_sensitive? attribute?", filter_unique},
    {"upper", "s", filter_upper},
    {"urlencode", "value", filter_urlencode},
    {"urlize", "*", filter_refused},
    {"wordcount", "s", filter_wordcount},
    {"wordwrap", "s width? break_long_words? wrapstring? break_on_hyphens?", filter_wordwrap},
    {"xmlattr", "d autospace?", filter_xmlattr},
};

}  // namespace

const Builtin* find_filter(std::string_view name) {
  const auto filter = std::find_if(std::begin(filters), std::end(filters),
                                   [&](const Builtin& each) { return each.name == name; });
  return filter == std::end(filters) ? nullptr : &*filter;
}

}  // namespace glassformer::jinja
