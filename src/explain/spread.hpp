#pragma once

#include <cmath>
#include <span>

namespace glassformer {

/// The mean and the standard deviation of some numbers; 0 of too few.
struct Spread {
  float mean = 0, deviation = 0;
};

inline Spread spread_of(std::span<const float> numbers) {
  if (numbers.empty()) return {};
  const auto count = static_cast<double>(numbers.size());
  double sum = 0, squares = 0;
  for (const float number : numbers) sum += static_cast<double>(number);
  const auto mean = static_cast<float>(sum / count);
  for (const float number : numbers) {
    const double off = static_cast<double>(number) - static_cast<double>(mean);
    squares += off * off;
  }
  const double variance = numbers.size() < 2 ? 0 : squares / (count - 1);
  return {mean, static_cast<float>(std::sqrt(variance))};
}

}  // namespace glassformer
