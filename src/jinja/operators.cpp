#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "jinja/evaluator.hpp"
#include "jinja/numbers.hpp"
#include "jinja/texts.hpp"

namespace glassformer::jinja {
namespace {

const char* sign_of(Operator operation) {
  switch (operation) {
    case Operator::add:
      return "+";
    case Operator::subtract:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::floor_divide:
      return "//";
    case Operator::modulo:
      return "%";
    default:
      return "** or pow()";
  }
}

double as_double(const Value& number) {
  return number.is(Kind::real) ? number.real() : static_cast<double>(number.integer());
}

// Computes base^exponent for a natural exponent. Returns false if the result does not fit.
bool integer_power(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
  result = 1;
  for (;;) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) return false;
    exponent /= 2;
    if (exponent == 0) return true;
    if (__builtin_mul_overflow(base, base, &base)) return false;
  }
}

class Arithmetic {
 public:
  explicit Arithmetic(Rendering& rendering) : rendering_(rendering) {}

  Value integers(Operator operation, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflows = false;
    switch (operation) {
      case Operator::add:
        overflows = __builtin_add_overflow(a, b, &result);
        break;
      case Operator::subtract:
        overflows = __builtin_sub_overflow(a, b, &result);
        break;
      case Operator::multiply:
        overflows = __builtin_mul_overflow(a, b, &result);
        break;
      case Operator::divide:
        expect_divisor(b != 0, "division by zero");
        return divide_integers(a, b);
      case Operator::floor_divide:
        expect_divisor(b != 0, "integer division or modulo by zero");
        if (b == -1) {
          overflows = __builtin_sub_overflow(std::int64_t{0}, a, &result);
        } else {
          result = a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
        }
        break;
      case Operator::modulo:
        expect_divisor(b != 0, "integer modulo by zero");
        result = b == -1 ? 0 : a % b;
        if (result != 0 && (result < 0) != (b < 0)) result += b;
        break;
      default:
        if (b < 0) return power(static_cast<double>(a), static_cast<double>(b));
        overflows = !integer_power(a, b, result);
    }
    if (overflows) rendering_.fail("integers of more than 64 bits are not supported");
    return result;
  }

  Value reals(Operator operation, double a, double b) const {
    switch (operation) {
      case Operator::add:
        return a + b;
      case Operator::subtract:
        return a - b;
      case Operator::multiply:
        return a * b;
      case Operator::divide:
        expect_divisor(b != 0, "float division by zero");
        return a / b;
      case Operator::floor_divide:
        expect_divisor(b != 0, "float floor division by zero");
        return floor_quotient(a, b);
      case Operator::modulo:
        expect_divisor(b != 0, "float modulo");
        return floor_rest(a, b);
      default:
        return power(a, b);
    }
  }

 private:
  void expect_divisor(bool is_right, const char* problem) const {
    if (!is_right) rendering_.fail(problem);
  }

  Value power(double a, double b) const {
    if (a == 0 && b < 0) rendering_.fail("0.0 cannot be raised to a negative power");
    double result = 0;
    if (!raise_to(a, b, result)) rendering_.fail("this power of a number is not supported");
    return result;
  }

  // The rest of a division, with the sign of the divisor.
  static double floor_rest(double a, double b) {
    const double rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }

  static double floor_quotient(double a, double b) {
    const double rest = std::fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(0.0, a / b);
    const double whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
  }

  Rendering& rendering_;
};

std::string html_escaped(const Value& text) {
  if (is_markup(text)) return std::string(text.string());
  std::string escaped;
  for (const char c : text.string()) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&#34;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

Value joined(Evaluator& evaluator, const Value& a, const Value& b) {
  if (a.is_string()) {
    const std::size_t bytes = a.string().size() + b.string().size();
    evaluator.expect_space(bytes);
    if (is_markup(a) || is_markup(b)) return evaluator.markup(html_escaped(a) + html_escaped(b));
    std::string text;
    text.reserve(bytes);
    text += a.string();
    text += b.string();
    return evaluator.string(std::move(text));
  }
  evaluator.expect_space((a.items().size() + b.items().size()) * sizeof(Value));
  std::vector<Value> items;
  items.reserve(a.items().size() + b.items().size());
  items.insert(items.end(), a.items().begin(), a.items().end());
  items.insert(items.end(), b.items().begin(), b.items().end());
  return a.is(Kind::list) ? evaluator.list(std::move(items)) : evaluator.tuple(std::move(items));
}

Value repeated(Evaluator& evaluator, const Value& value, std::int64_t wanted) {
  const std::size_t size = value.is_string() ? value.string().size() : value.items().size();
  const std::size_t count = wanted < 0 || size == 0 ? 0 : static_cast<std::size_t>(wanted);
  const std::size_t unit = value.is_string() ? 1 : sizeof(Value);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size * unit, &bytes)) bytes = std::size_t{0} - 1;
  evaluator.expect_space(bytes);
  if (value.is_string()) {
    std::string text;
    text.reserve(bytes);
    for (std::size_t i = 0; i < count; ++i) text += value.string();
    return evaluator.string_like(value, std::move(text));
  }
  std::vector<Value> items;
  items.reserve(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return value.is(Kind::list) ? evaluator.list(std::move(items))
                              : evaluator.tuple(std::move(items));
}

bool is_repeatable(const Value& value) { return value.is_string() || value.is_sequence(); }

}  // namespace

std::string escape_html(const Value& text) { return html_escaped(text); }

Value Evaluator::operate(Operator operation, const Value& left, const Value& right) {
  if (operation == Operator::modulo && left.is_string()) {
    if (is_markup(left)) fail("formatting escaped text is not supported");
    return string(format_percent(*this, left.string(), right));
  }
  for (const Value* value : {&left, &right}) {
    if (value->is_undefined()) fail(undefined_message(*value));
  }
  if (left.is_integral() && right.is_integral()) {
    return Arithmetic(*this).integers(operation, left.integer(), right.integer());
  }
  if (left.is_number() && right.is_number()) {
    return Arithmetic(*this).reals(operation, as_double(left), as_double(right));
  }
  if (operation == Operator::add && is_repeatable(left)) {
    if (left.kind() == right.kind()) return joined(*this, left, right);
    const char* type = left.is_string() ? "str" : type_name(left);
    fail({"can only concatenate {} (not \"{}\") to {}", {type, type_name(right), type}});
  }
  if (operation == Operator::multiply) {
    if (is_repeatable(left) && right.is_integral()) return repeated(*this, left, right.integer());
    if (is_repeatable(right) && left.is_integral()) return repeated(*this, right, left.integer());
    if (is_repeatable(left) || is_repeatable(right)) {
      fail({"can't multiply sequence by non-int of type '{}'",
            {type_name(is_repeatable(left) ? right : left)}});
    }
  }
  const bool has_sets = operation == Operator::subtract && left.is(Kind::view);
  if (has_sets) fail("differences of the keys of dicts are not supported");
  fail({"unsupported operand type(s) for {}: '{}' and '{}'",
        {sign_of(operation), type_name(left), type_name(right)}});
}

bool Evaluator::contains(const Value& container, const Value& wanted) {
  switch (container.kind()) {
    case Kind::string: {
      if (!wanted.is_string()) {
        fail({"'in <string>' requires string as left operand, not {}", {type_name(wanted)}});
      }
      return Finder(*this, wanted.string()).find(container.string()) != std::string_view::npos;
    }
    case Kind::dict:
      return container.entries().find(*this, wanted) != nullptr;
    case Kind::view: {
      const auto& view = container.object<View>();
      if (view.part == View::Part::keys) return contains(view.dict, wanted);
      break;
    }
    case Kind::range: {
      const auto& range = container.object<Range>();
      if (wanted.is_number()) {
        std::int64_t number = 0;
        if (wanted.is(Kind::real)) {
          if (!truncate_to_integer(wanted.real(), number) ||
              static_cast<double>(number) != wanted.real()) {
            return false;
          }
        } else {
          number = wanted.integer();
        }
        if (range.length == 0) return false;
        const std::int64_t last = range[range.length - 1];
        const bool is_between =
            number >= std::min(range.start, last) && number <= std::max(range.start, last);
        const auto distance =
            static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(range.start);
        const auto step = static_cast<std::uint64_t>(range.step);
        return is_between && (range.step > 0 ? distance % step : (0 - distance) % (0 - step)) == 0;
      }
      return false;
    }
    case Kind::undefined:
    case Kind::list:
    case Kind::tuple:
    case Kind::iterator:
      break;
    default:
      fail({"argument of type '{}' is not iterable", {type_name(container)}});
  }
  const Value iterator = iterate(container);
  for (Value each; next(iterator, each);) {
    if (are_equal(*this, each, wanted)) return true;
  }
  return false;
}

std::int64_t Evaluator::integer_of(const Value& value) {
  if (value.is_undefined()) fail(undefined_message(value));
  if (!value.is_integral()) {
    fail({"'{}' object cannot be interpreted as an integer", {type_name(value)}});
  }
  return value.integer();
}

}  // namespace glassformer::jinja
