#include <algorithm>
#include <iterator>
#include <string_view>

#include "jinja/builtins.hpp"
#include "jinja/evaluator.hpp"
#include "jinja/letters.hpp"

namespace glassformer::jinja {

namespace {

using Result = bool (*)(Evaluator& evaluator, const Value& value, const Value& argument);

// Makes the function of a builtin of a test.
template <Result test>
Value tested(Evaluator& evaluator, Value* values, const Arguments&) {
  return test(evaluator, values[0], values[1]);
}

bool is_kind(const Value& value, std::initializer_list<Kind> kinds) {
  return std::find(kinds.begin(), kinds.end(), value.kind()) != kinds.end();
}

bool has_rest(Evaluator& evaluator, const Value& value, const Value& divisor, std::int64_t rest) {
  return are_equal(evaluator, evaluator.operate(Operator::modulo, value, divisor), rest);
}
bool test_odd(Evaluator& evaluator, const Value& value, const Value&) {
  return has_rest(evaluator, value, std::int64_t{2}, 1);
}
bool test_even(Evaluator& evaluator, const Value& value, const Value&) {
  return has_rest(evaluator, value, std::int64_t{2}, 0);
}
bool test_divisibleby(Evaluator& evaluator, const Value& value, const Value& divisor) {
  return has_rest(evaluator, value, divisor, 0);
}
bool test_defined(Evaluator&, const Value& value, const Value&) { return !value.is_undefined(); }
bool test_undefined(Evaluator&, const Value& value, const Value&) { return value.is_undefined(); }
// Returns the name of a filter or test, which Python looks up in a dict.
std::string_view name_in(Evaluator& evaluator, const Value& value) {
  if (is_kind(value, {Kind::list, Kind::dict, Kind::view})) {
    evaluator.fail({"unhashable type: '{}'", {type_name(value)}});
  }
  return value.is_string() ? value.string() : std::string_view();
}
bool test_filter(Evaluator& evaluator, const Value& value, const Value&) {
  return find_filter(name_in(evaluator, value)) != nullptr;
}
bool test_test(Evaluator& evaluator, const Value& value, const Value&) {
  return find_test(name_in(evaluator, value)) != nullptr;
}
bool test_none(Evaluator&, const Value& value, const Value&) { return value.is_none(); }
bool test_boolean(Evaluator&, const Value& value, const Value&) { return value.is(Kind::boolean); }
bool test_false(Evaluator&, const Value& value, const Value&) {
  return value.is(Kind::boolean) && value.integer() == 0;
}
bool test_true(Evaluator&, const Value& value, const Value&) {
  return value.is(Kind::boolean) && value.integer() != 0;
}
bool test_integer(Evaluator&, const Value& value, const Value&) { return value.is(Kind::integer); }
bool test_float(Evaluator&, const Value& value, const Value&) { return value.is(Kind::real); }
bool test_lower(Evaluator& evaluator, const Value& value, const Value&) {
  return is_text_in_case(evaluator.text(value), CharacterClass::lower, CharacterClass::upper);
}
bool test_upper(Evaluator& evaluator, const Value& value, const Value&) {
  return is_text_in_case(evaluator.text(value), CharacterClass::upper, CharacterClass::lower);
}
bool test_string(Evaluator&, const Value& value, const Value&) { return value.is_string(); }
bool test_mapping(Evaluator&, const Value& value, const Value&) { return value.is(Kind::dict); }
bool test_number(Evaluator&, const Value& value, const Value&) { return value.is_number(); }
bool test_sequence(Evaluator&, const Value& value, const Value&) {
  return length_of(value) >= 0 && !value.is(Kind::view);
}
bool test_iterable(Evaluator&, const Value& value, const Value&) {
  return length_of(value) >= 0 || is_kind(value, {Kind::iterator, Kind::loop});
}
bool test_callable(Evaluator&, const Value& value, const Value&) {
  return is_kind(value, {Kind::undefined, Kind::loop, Kind::macro, Kind::function, Kind::method,
                         Kind::joiner});
}
bool test_escaped(Evaluator&, const Value& value, const Value&) { return is_markup(value); }
bool test_in(Evaluator& evaluator, const Value& value, const Value& container) {
  return evaluator.contains(container, value);
}

bool test_sameas(Evaluator& evaluator, const Value& value, const Value& other) {
  if (value.kind() != other.kind()) return false;
  const bool is_single = value.is_none() || value.is(Kind::boolean);
  if (value.shared() ? value.shared() == other.shared()
                     : is_single && value.integer() == other.integer()) {
    return true;
  }
  if (!value.is_number() && !is_kind(value, {Kind::string, Kind::tuple})) return false;
  if (is_single || !are_equal(evaluator, value, other)) return false;
  if (value.is(Kind::integer) && value.integer() >= -5 && value.integer() <= 256) return true;
  evaluator.fail(
      {"the test 'sameas' is not supported for values of type '{}'", {type_name(value)}});
}

template <Operator operation>
bool test_order(Evaluator& evaluator, const Value& value, const Value& other) {
  return evaluator.holds(operation, value, other);
}

constexpr const char* alone = "_value";
constexpr const char* with_other = "_value _other";
constexpr Builtin tests[] = {
    {"odd", "value", tested<test_odd>},
    {"even", "value", tested<test_even>},
    {"divisibleby", "value num", tested<test_divisibleby>},
    {"defined", "value", tested<test_defined>},
    {"undefined", "value", tested<test_undefined>},
    {"filter", "value", tested<test_filter>},
    {"test", "value", tested<test_test>},
    {"none", "value", tested<test_none>},
    {"boolean", "value", tested<test_boolean>},
    {"false", "value", tested<test_false>},
    {"true", "value", tested<test_true>},
    {"integer", "value", tested<test_integer>},
    {"float", "value", tested<test_float>},
    {"lower", "value", tested<test_lower>},
    {"upper", "value", tested<test_upper>},
    {"string", "value", tested<test_string>},
    {"mapping", "value", tested<test_mapping>},
    {"number", "value", tested<test_number>},
    {"sequence", "value", tested<test_sequence>},
    {"iterable", "value", tested<test_iterable>},
    {"callable", alone, tested<test_callable>},
    {"sameas", "value other", tested<test_sameas>},
    {"escaped", "value", tested<test_escaped>},
    {"in", "value seq", tested<test_in>},
    {"==", with_other, tested<test_order<Operator::equal>>},
    {"eq", with_other, tested<test_order<Operator::equal>>},
    {"equalto", with_other, tested<test_order<Operator::equal>>},
    {"!=", with_other, tested<test_order<Operator::unequal>>},
    {"ne", with_other, tested<test_order<Operator::unequal>>},
    {">", with_other, tested<test_order<Operator::greater>>},
    {"gt", with_other, tested<test_order<Operator::greater>>},
    {"greaterthan", with_other, tested<test_order<Operator::greater>>},
    {">=", with_other, tested<test_order<Operator::greater_equal>>},
    {"ge", with_other, tested<test_order<Operator::greater_equal>>},
    {"<", with_other, tested<test_order<Operator::less>>},
    {"lt", with_other, tested<test_order<Operator::less>>},
    {"lessthan", with_other, tested<test_order<Operator::less>>},
    {"<=", with_other, tested<test_order<Operator::less_equal>>},
    {"le", with_other, tested<test_order<Operator::less_equal>>},
};

}  // namespace

const Builtin* find_test(std::string_view name) {
  const auto test = std::find_if(std::begin(tests), std::end(tests),
                                 [&](const Builtin& each) { return each.name == name; });
  return test == std::end(tests) ? nullptr : &*test;
}

}  // namespace glassformer::jinja
