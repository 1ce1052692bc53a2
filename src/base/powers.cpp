#include "base/powers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace glassformer {
namespace {

// Returns e^x, by the Taylor series around a multiple of ln 2.
double exponential(double x) {
  const double twos = std::nearbyint(x / std::numbers::ln2);
  const double rest = x - twos * std::numbers::ln2;
  double sum = 1;
  for (int n = 17; n > 0; --n) sum = 1 + sum * rest / n;
  return std::ldexp(sum, static_cast<int>(twos));
}

}  // namespace

// Uses the series of 2 atanh((m - 1) / (m + 1)) for number = m 2^e with m from sqrt(1/2) to
// sqrt(2).
double logarithm(double number) {
  int exponent;
  double mantissa = std::frexp(number, &exponent);
  if (mantissa < std::numbers::sqrt2 / 2) {
    mantissa *= 2;
    --exponent;
  }
  const double ratio = (mantissa - 1) / (mantissa + 1);
  double sum = 0;
  for (int n = 23; n > 0; n -= 2) sum = sum * ratio * ratio + 1.0 / n;
  return 2 * ratio * sum + exponent * std::numbers::ln2;
}

double power(double base, double exponent) {
  if (exponent == 1) return base;
  return exponential(exponent * logarithm(base));
}

// By their power series, after whole turns are taken off.
SineCosine sine_cosine(double angle) {
  constexpr double turn = 2 * std::numbers::pi;
  angle -= std::nearbyint(angle / turn) * turn;
  SineCosine sums = {0.0, 0.0};
  double term = 1.0;  // angle^n / n!
  for (int n = 0; n < 24; n += 4) {
    sums.cosine += term;
    sums.sine += term *= angle / (n + 1);
    sums.cosine -= term *= angle / (n + 2);
    sums.sine -= term *= angle / (n + 3);
    term *= angle / (n + 4);
  }
  return sums;
}

double scaled_by_ten(double number, int exponent) {
  // A double holds powers of ten exactly up to 10^22.
  while (exponent != 0 && number != 0 && std::isfinite(number)) {
    const int part = std::clamp(exponent, -22, 22);
    double ten = 1;
    for (int i = std::abs(part); i > 0; --i) ten *= 10;
    number = part > 0 ? number * ten : number / ten;
    exponent -= part;
  }
  return number;
}

}  // namespace glassformer
