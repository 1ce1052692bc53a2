#include "base/strings/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/powers.hpp"

namespace glassformer {
namespace {

constexpr int most_digits = 9;  // enough to distinguish any two floats

// A number with these significant digits: 0.ddd x 10^point.
struct Decimal {
  std::string digits;
  int point;
};

// Returns the integer nearest to number x 10^shift; it may be rounded up to a power of ten.
std::uint64_t nearest(double number, int shift) {
  return static_cast<std::uint64_t>(std::nearbyint(scaled_by_ten(number, shift)));
}

Decimal shortest(float number) {
  int exponent = 0;  // decimal exponent of the first digit
  while (scaled_by_ten(number, -exponent) >= 10) ++exponent;
  while (scaled_by_ten(number, -exponent) < 1) --exponent;
  std::uint64_t digits = 0;
  for (int count = 1; count <= most_digits; ++count) {
    const int shift = count - 1 - exponent;
    digits = nearest(number, shift);
    if (static_cast<float>(scaled_by_ten(static_cast<double>(digits), -shift)) == number) {
      std::string text = std::to_string(digits);  // one more than `count` if rounded up to 10^n
      const int point = static_cast<int>(text.size()) - shift;
      text.resize(text.find_last_not_of('0') + 1);
      return {text, point};
    }
  }
  return {std::to_string(digits), exponent + 1};
}

std::string with_exponent(const Decimal& decimal) {
  std::string text = decimal.digits;
  if (text.size() > 1) text.insert(1, 1, '.');
  const int exponent = decimal.point - 1;
  text += exponent < 0 ? "e-" : "e+";
  if (std::abs(exponent) < 10) text += '0';
  return text + std::to_string(std::abs(exponent));
}

constexpr int most_exact_digits = 18;  // as many nines fit in 64 bits, and so does 10^18

// Returns the double nearest to digits / 10^places, for `places` up to 18. An integer division
// leaves one rounding, the last.
double quotient_of(std::uint64_t digits, int places) {
  if (digits == 0) return 0;
  std::uint64_t power = 1;
  for (int n = 0; n < places; ++n) power *= 10;
  std::uint64_t quotient = digits / power;
  std::uint64_t rest = digits % power;
  int shift = 0;
  while (quotient < std::uint64_t{1} << 62) {
    quotient <<= 1;
    rest <<= 1;
    if (rest >= power) {
      rest -= power;
      quotient |= 1;
    }
    ++shift;
  }
  if (rest != 0) quotient |= 1;  // not a tie
  auto value = static_cast<double>(quotient);
  for (; shift > 0; --shift) value /= 2;
  return value;
}

}  // namespace

std::string shortest_decimal(float number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  if (number == 0) return std::signbit(number) ? "-0" : "0";
  const float magnitude = std::abs(number);
  const Decimal decimal = shortest(magnitude);
  const auto count = static_cast<int>(decimal.digits.size());
  std::string text = with_exponent(decimal);
  const int plain = decimal.point <= 0 ? count - decimal.point + 2
                                       : std::max(count + (count > decimal.point), decimal.point);
  if (plain <= static_cast<int>(text.size())) {
    text = decimal.digits;
    if (decimal.point <= 0) {
      text.insert(0, "0." + std::string(static_cast<std::size_t>(-decimal.point), '0'));
    } else if (decimal.point < count) {
      text.insert(static_cast<std::size_t>(decimal.point), 1, '.');
    } else {
      text = std::to_string(static_cast<std::uint64_t>(magnitude));
    }
  }
  return number < 0 ? '-' + text : text;
}

std::string six_decimals(float number) {
  // The digits of a float and those of 10^6 fit in a double, so the product is exact.
  const double millionths = std::nearbyint(std::abs(static_cast<double>(number)) * 1e6);
  if (!(millionths < 1e18)) return shortest_decimal(number);
  std::string text = std::to_string(static_cast<std::uint64_t>(millionths));
  if (text.size() < 7) text.insert(0, 7 - text.size(), '0');
  text.insert(text.size() - 6, 1, '.');
  return std::signbit(number) ? '-' + text : text;
}

double parse_decimal(std::string_view number) {
  std::uint64_t digits = 0;
  int count = 0;  // of the digits
  int exponent = 0;
  bool fraction = false;
  std::size_t i = number.front() == '-' ? 1 : 0;
  for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
    if (number[i] == '.') {
      fraction = true;
    } else if (count < most_exact_digits) {
      digits = digits * 10 + static_cast<std::uint64_t>(number[i] - '0');
      count += digits != 0;
      exponent -= fraction;
    } else {
      exponent += !fraction;  // digits beyond a double's precision
    }
  }
  if (i < number.size()) {
    constexpr int limit = 1'000'000'000;  // no number has more digits
    i += number[i + 1] == '+' ? 2 : 1;
    int written = number[i] == '-' ? -limit : limit;  // unchanged if it does not fit
    std::from_chars(number.data() + i, number.data() + number.size(), written);
    exponent += std::clamp(written, -limit, limit);
  }
  const bool exact = exponent < 0 && exponent >= -most_exact_digits;
  const double value =
      exact ? quotient_of(digits, -exponent) : scaled_by_ten(static_cast<double>(digits), exponent);
  return number.front() == '-' ? -value : value;
}

}  // namespace glassformer
