#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "jinja/evaluator.hpp"

namespace glassformer::jinja {
namespace {

constexpr std::int64_t max_range = 100'000;

Value function_range(Evaluator& evaluator, Value* values, const Arguments&) {
  auto range = std::make_unique<Range>();
  if (values[1].is_missing()) {
    range->stop = evaluator.integer_of(values[0]);
  } else {
    range->start = evaluator.integer_of(values[0]);
    range->stop = evaluator.integer_of(values[1]);
  }
  if (!values[2].is_missing()) range->step = evaluator.integer_of(values[2]);
  if (range->step == 0) evaluator.fail("range() arg 3 must not be zero");
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  std::uint64_t length = 0;
  if (range->step > 0 && range->start < range->stop) {
    length =
        (distance(range->start, range->stop) - 1) / static_cast<std::uint64_t>(range->step) + 1;
  } else if (range->step < 0 && range->start > range->stop) {
    const std::uint64_t step = 0 - static_cast<std::uint64_t>(range->step);
    length = (distance(range->stop, range->start) - 1) / step + 1;
  }
  if (length > static_cast<std::uint64_t>(max_range)) {
    evaluator.fail(
        ErrorCode::too_large,
        {"Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", {max_range}});
  }
  range->length = static_cast<std::int64_t>(length);
  return evaluator.own(Kind::range, range.release(), sizeof(Range), 0);
}

// Makes a dict of the arguments of dict() and namespace().
std::unique_ptr<Dict> dict_of(Evaluator& evaluator, const Arguments& all) {
  auto dict = std::make_unique<Dict>();
  if (all.positional.size() > 1) {
    evaluator.fail({"dict expected at most 1 argument, got {}", {all.positional.size()}});
  }
  if (!all.positional.empty()) {
    const Value& source = all.positional[0];
    if (source.is_undefined()) evaluator.fail(undefined_message(source));
    if (source.is(Kind::dict)) {
      for (const Dict::Entry& entry : source.entries().entries) {
        evaluator.step();
        dict->set(evaluator, entry.key, entry.value);
      }
    } else {
      const Value iterator = evaluator.iterate(source);
      for (Value pair; evaluator.next(iterator, pair);) {
        const std::vector<Value> parts = evaluator.items_of(pair);
        if (parts.size() != 2) evaluator.fail("dict() expects pairs of keys and values");
        dict->set(evaluator, parts[0], parts[1]);
        evaluator.expect_space(dict->entries.size() * sizeof(Dict::Entry));
      }
    }
  }
  for (const auto& [name, value] : all.named) dict->set(evaluator, name, value);
  return dict;
}

Value function_dict(Evaluator& evaluator, Value*, const Arguments& all) {
  return evaluator.own(dict_of(evaluator, all).release());
}

Value function_namespace(Evaluator& evaluator, Value*, const Arguments& all) {
  std::unique_ptr<Dict> attributes = dict_of(evaluator, all);
  for (const Dict::Entry& entry : attributes->entries) {
    if (!entry.key.is_string()) evaluator.fail("attributes of a namespace must be strings");
  }
  auto* space = new NameSpace;
  Value value = evaluator.own(Kind::name_space, space, sizeof(NameSpace), 0);
  space->attributes = evaluator.own(attributes.release());
  space->attributes.object<Dict>().depth = 1;  // it may contain itself
  evaluator.keep(value);
  return value;
}

Value function_cycler(Evaluator& evaluator, Value*, const Arguments& all) {
  if (all.positional.empty()) evaluator.fail("at least one item has to be provided");
  if (!all.named.empty()) evaluator.fail("cycler() takes no keyword arguments");
  const Value items = evaluator.tuple(all.positional);
  auto* cycler = new Cycler;
  cycler->items = all.positional;
  return evaluator.own(Kind::cycler, cycler, sizeof(Cycler) + all.positional.size() * sizeof(Value),
                       items.depth());
}

Value function_joiner(Evaluator& evaluator, Value* values, const Arguments&) {
  auto* joiner = new Joiner;
  joiner->separator = values[0].is_missing() ? evaluator.string(", ") : values[0];
  return evaluator.own(Kind::joiner, joiner, sizeof(Joiner), values[0].depth());
}

Value function_lipsum(Evaluator& evaluator, Value*, const Arguments&) {
  evaluator.fail("the function 'lipsum' is not supported");
}

Value function_raise(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string message = evaluator.text(values[0]);
  evaluator.fail(ErrorCode::invalid_option, message);
}

Value function_now(Evaluator& evaluator, Value* values, const Arguments&) {
  if (!values[0].is_string()) evaluator.fail("strftime_now() expects a text");
  return evaluator.string(format_time(evaluator, evaluator.now(), values[0].string()));
}

constexpr Builtin functions[] = {
    {"range", "_start _stop? _step?", function_range},
    {"dict", "*", function_dict},
    {"namespace", "*", function_namespace},
    {"cycler", "*", function_cycler},
    {"joiner", "sep?", function_joiner},
    {"lipsum", "*", function_lipsum},
    {"raise_exception", "message", function_raise},
    {"strftime_now", "format", function_now},
};

}  // namespace

const Builtin* find_function(std::string_view name) {
  const auto function = std::find_if(std::begin(functions), std::end(functions),
                                     [&](const Builtin& each) { return each.name == name; });
  return function == std::end(functions) ? nullptr : &*function;
}

}  // namespace glassformer::jinja
