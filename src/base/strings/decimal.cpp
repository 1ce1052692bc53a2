#include "base/strings/decimal.hpp"

#include <algorithm>
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

}  // namespace glassformer
