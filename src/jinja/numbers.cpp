#include "jinja/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "base/strings/decimal.hpp"

namespace glassformer::jinja {
namespace {

// The number 0.DDD x 10^point, without zeros at either end. No digits mean 0.
struct Digits {
  std::string digits;
  int point = 0;
};

constexpr std::uint32_t limb_base = 1'000'000'000;

// A natural number, in limbs of nine decimal digits. The lowest comes first.
class Natural {
 public:
  explicit Natural(std::uint64_t number) {
    for (; number > 0; number /= limb_base) {
      limbs_.push_back(static_cast<std::uint32_t>(number % limb_base));
    }
  }

  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry % limb_base);
      carry /= limb_base;
    }
    if (carry > 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }

  // Multiplies by base^exponent, for a base of at most 10.
  void multiply(std::uint32_t base, int exponent) {
    std::uint32_t power = 1;
    for (; exponent > 0; --exponent) {
      power *= base;
      if (power < 100'000'000 && exponent > 1) continue;
      multiply(power);
      power = 1;
    }
  }

  std::string digits() const {
    std::string text;
    for (std::size_t i = limbs_.size(); i-- > 0;) {
      std::string limb = std::to_string(limbs_[i]);
      if (!text.empty()) limb.insert(0, 9 - limb.size(), '0');
      text += limb;
    }
    return text;
  }

 private:
  std::vector<std::uint32_t> limbs_;
};

// Makes a number of a text of digits, 0.DDD x 10^point.
Digits normalized(std::string digits, int point) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return {};
  digits.erase(0, first);
  digits.resize(digits.find_last_not_of('0') + 1);
  return {std::move(digits), point - static_cast<int>(first)};
}

Digits shifted(const Natural& natural, int point_shift) {
  std::string digits = natural.digits();
  const int point = static_cast<int>(digits.size()) + point_shift;
  return normalized(std::move(digits), point);
}

// Returns the digits of mantissa x 2^exponent.
Digits exact_digits(std::uint64_t mantissa, int exponent) {
  Natural natural(mantissa);
  natural.multiply(exponent < 0 ? 5 : 2, std::abs(exponent));
  return shifted(natural, std::min(exponent, 0));
}

// The parts of a finite number, whose magnitude is mantissa x 2^exponent.
struct Binary {
  explicit Binary(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    const auto biased = static_cast<int>(bits >> 52 & 0x7FF);
    mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    is_power = mantissa == 0 && biased > 1;
    if (biased > 0) mantissa |= std::uint64_t{1} << 52;
    exponent = std::max(biased, 1) - 1075;
  }

  // The middle between this number and the next larger or smaller one.
  Digits upper_bound() const { return exact_digits(2 * mantissa + 1, exponent - 1); }
  Digits lower_bound() const {
    return is_power ? exact_digits(4 * mantissa - 1, exponent - 2)
                    : exact_digits(2 * mantissa - 1, exponent - 1);
  }

  std::uint64_t mantissa;
  int exponent;
  bool is_power;  // the next smaller number is only half as far away as the next larger one
};

Digits digits_of(double number) {
  const Binary parts(number);
  return exact_digits(parts.mantissa, parts.exponent);
}

int compare_digits(const Digits& a, const Digits& b) {
  if (a.digits.empty() || b.digits.empty()) {
    return static_cast<int>(b.digits.empty()) - static_cast<int>(a.digits.empty());
  }
  if (a.point != b.point) return a.point < b.point ? -1 : 1;
  return a.digits.compare(b.digits);
}

// Returns the first `count` digits, plus one unit of the last of them if `up`.
Digits cut_digits(const Digits& number, int count, bool up) {
  std::string digits = number.digits.substr(0, static_cast<std::size_t>(std::max(count, 0)));
  digits.resize(static_cast<std::size_t>(std::max(count, 0)), '0');
  int point = number.point;
  if (up) {
    std::size_t i = digits.size();
    while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
    if (i > 0) {
      ++digits[i - 1];
    } else {
      digits.insert(0, 1, '1');
      point = std::max(count, 0) == 0 ? number.point - count + 1 : point + 1;
    }
  }
  return normalized(std::move(digits), point);
}

// Returns whether rounding to `count` digits, half to even, adds a unit.
bool rounds_up(const Digits& number, int count) {
  if (count < 0 || static_cast<std::size_t>(count) >= number.digits.size()) return false;
  const auto place = static_cast<std::size_t>(count);
  const char next = number.digits[place];
  if (next != '5') return next > '5';
  if (place + 1 < number.digits.size()) return true;
  return place > 0 && (number.digits[place - 1] - '0') % 2 == 1;
}

Digits rounded(const Digits& number, int count) {
  if (count >= static_cast<int>(number.digits.size())) return number;
  return cut_digits(number, count, rounds_up(number, count));
}

Digits shortest_digits(double number) {
  const Binary parts(number);
  const Digits exact = exact_digits(parts.mantissa, parts.exponent);
  const Digits low = parts.lower_bound();
  const Digits high = parts.upper_bound();
  const bool even = parts.mantissa % 2 == 0;
  const auto reads_back = [&](const Digits& candidate) {
    const int above = compare_digits(candidate, low);
    const int below = compare_digits(candidate, high);
    return (above > 0 || (above == 0 && even)) && (below < 0 || (below == 0 && even));
  };
  for (int count = 1; count < 17; ++count) {
    if (static_cast<std::size_t>(count) >= exact.digits.size()) return exact;
    const bool up = rounds_up(exact, count);
    for (const bool way : {up, !up}) {
      Digits candidate = cut_digits(exact, count, way);
      if (reads_back(candidate)) return candidate;
    }
  }
  return rounded(exact, 17);
}

// Writes a number with `places` digits after the point.
std::string plain_text(const Digits& number, int places) {
  std::string text;
  const auto digit = [&](int place) {  // counted from the point to the right
    const int i = number.point + place;
    const bool present = i >= 0 && i < static_cast<int>(number.digits.size());
    return present ? number.digits[static_cast<std::size_t>(i)] : '0';
  };
  for (int place = std::min(-number.point, -1); place < 0; ++place) text += digit(place);
  if (places > 0) text += '.';
  for (int place = 0; place < places; ++place) text += digit(place);
  return text;
}

// Writes a number with one digit before the point and `places` after it.
std::string exponent_text(const Digits& number, int places) {
  std::string digits = number.digits;
  digits.resize(static_cast<std::size_t>(places) + 1, '0');
  if (places > 0) digits.insert(1, 1, '.');
  const int exponent = number.digits.empty() ? 0 : number.point - 1;
  digits += exponent < 0 ? "e-" : "e+";
  if (std::abs(exponent) < 10) digits += '0';
  return digits + std::to_string(std::abs(exponent));
}

double next_double(double number, int step) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  return std::bit_cast<double>(step > 0 ? bits + 1 : bits - 1);
}

// Returns the double nearest to a number.
double nearest_double(const Digits& number) {
  if (number.digits.empty() || number.point < -330) return 0;
  if (number.point > 310) return std::numeric_limits<double>::infinity();
  const std::string few = number.digits.substr(0, 18);
  double value =
      parse_decimal(few + "e" + std::to_string(number.point - static_cast<int>(few.size())));
  value = std::min(value, std::numeric_limits<double>::max());
  for (;;) {  // `value` is at most a few steps away
    const Binary parts(value);
    const bool odd = parts.mantissa % 2 == 1;
    const int above = compare_digits(number, parts.upper_bound());
    if (above > 0 || (above == 0 && odd)) {
      value = next_double(value, 1);
      if (std::isinf(value)) return value;
      continue;
    }
    if (value == 0) return value;
    const int below = compare_digits(number, parts.lower_bound());
    if (below > 0 || (below == 0 && !odd)) return value;
    value = next_double(value, -1);
  }
}

}  // namespace

std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  std::string text = std::signbit(number) ? "-" : "";
  if (std::isinf(number)) return text + "inf";
  if (number == 0) return text + "0.0";
  const Digits digits = shortest_digits(number);
  const auto count = static_cast<int>(digits.digits.size());
  if (digits.point > 16 || digits.point < -3) return text + exponent_text(digits, count - 1);
  return text + plain_text(digits, std::max(count - digits.point, 1));
}

std::string fixed_digits(double number, int places) {
  const Digits digits = digits_of(number);
  return plain_text(rounded(digits, digits.point + places), places);
}

std::string exponent_digits(double number, int places) {
  return exponent_text(rounded(digits_of(number), places + 1), places);
}

std::string general_digits(double number, int precision) {
  precision = std::max(precision, 1);
  const Digits digits = rounded(digits_of(number), precision);
  const int exponent = digits.digits.empty() ? 0 : digits.point - 1;
  const auto count = std::max(static_cast<int>(digits.digits.size()), 1);
  if (exponent < -4 || exponent >= precision) return exponent_text(digits, count - 1);
  return plain_text(digits, std::max(count - 1 - exponent, 0));
}

double parse_float(std::string_view number) {
  std::string digits;
  std::int64_t point = 0;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
    if (number[i] == '.') {
      fraction = true;
    } else {
      digits += number[i];
      point += !fraction;
    }
  }
  std::int64_t exponent = 0;
  if (i < number.size()) {
    ++i;
    const bool negative = number[i] == '-';
    if (negative || number[i] == '+') ++i;
    for (; i < number.size(); ++i) {
      exponent = std::min<std::int64_t>(exponent * 10 + (number[i] - '0'), 1'000'000'000);
    }
    if (negative) exponent = -exponent;
  }
  Digits parsed = normalized(std::move(digits), 0);
  const std::int64_t sum = point + exponent + parsed.point;
  parsed.point = static_cast<int>(std::clamp<std::int64_t>(sum, -1'000'000, 1'000'000));
  return nearest_double(parsed);
}

double round_decimal(double number, std::int64_t places) {
  if (places > 400) return number;
  if (places < -400) return std::copysign(0.0, number);
  const Digits digits = digits_of(number);
  const Digits result = rounded(digits, digits.point + static_cast<int>(places));
  return std::copysign(nearest_double(result), number);
}

double divide_integers(std::int64_t dividend, std::int64_t divisor) {
  const auto magnitude = [](std::int64_t n) {
    return n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  };
  const std::uint64_t by = magnitude(divisor);
  std::uint64_t quotient = magnitude(dividend) / by;
  std::uint64_t rest = magnitude(dividend) % by;
  double scale = 1;
  if (rest != 0) {  // more bits, so that the conversion below is the only rounding
    while (quotient < std::uint64_t{1} << 62) {
      const bool more = rest >= by - rest;
      rest = more ? rest - (by - rest) : rest + rest;
      quotient = quotient << 1 | static_cast<std::uint64_t>(more);
      scale /= 2;
    }
    quotient |= static_cast<std::uint64_t>(rest != 0);
  }
  const double result = static_cast<double>(quotient) * scale;
  return (dividend < 0) != (divisor < 0) && dividend != 0 ? -result : result;
}

bool raise_to(double base, double exponent, double& result) {
  if (exponent == 0 || base == 1) {
    result = 1;
    return true;
  }
  if (exponent == 0.5 && base > 0) {
    result = std::sqrt(base);
    return true;
  }
  if (exponent != std::floor(exponent) || std::abs(exponent) > 64 || !std::isfinite(base)) {
    return false;
  }
  if (base == 0) {
    if (exponent < 0) return false;
    result = std::fmod(exponent, 2) == 1 ? base : 0;
    return true;
  }
  // The power of the mantissa is exact.
  const Binary parts(base);
  const auto count = static_cast<int>(std::abs(exponent));
  const int twos = std::countr_zero(parts.mantissa);
  std::uint64_t odd = parts.mantissa >> twos;
  Natural power(1);
  for (int n = 0; n < count; ++n) {
    if (odd < limb_base) {
      power.multiply(static_cast<std::uint32_t>(odd));
      continue;
    }
    return false;
  }
  const int shift = (parts.exponent + twos) * count;
  power.multiply(shift < 0 ? 5 : 2, std::abs(shift));
  const Digits exact = shifted(power, std::min(shift, 0));
  result = nearest_double(exact);
  if (base < 0 && count % 2 == 1) result = -result;
  if (!std::isfinite(result)) return false;
  if (exponent > 0) return true;
  // The reciprocal is the nearest double only if the power is exact.
  if (result == 0 || compare_digits(digits_of(result), exact) != 0) return false;
  result = 1 / result;
  return true;
}

int compare_exactly(std::int64_t integer, double number) {
  constexpr double limit = 9223372036854775808.0;
  if (number >= limit) return -1;
  if (number < -limit) return 1;
  const auto whole = static_cast<std::int64_t>(number);
  if (integer != whole) return integer < whole ? -1 : 1;
  const double fraction = number - static_cast<double>(whole);
  return fraction > 0 ? -1 : fraction < 0 ? 1 : 0;
}

bool truncate_to_integer(double number, std::int64_t& integer) {
  if (!(number > -9223372036854777856.0 && number < 9223372036854775808.0)) return false;
  if (number < -9223372036854775808.0) return false;
  integer = static_cast<std::int64_t>(number);
  return true;
}

}  // namespace glassformer::jinja
