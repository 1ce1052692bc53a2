#pragma once

#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

// The lowest float fills the lanes past the row's end: its exponential is 0.
inline constexpr float lowest = -3.402823466e+38f;

inline float maximum_of(const float* row, std::size_t n) {
  const std::size_t whole = n - n % Vec::width;
  Vec highest = Vec::broadcast(lowest), second = highest;
  std::size_t i = 0;
  for (; i + 2 * Vec::width <= n; i += 2 * Vec::width) {  // two, as each waits for the previous one
    highest = max(highest, Vec::load(row + i));
    second = max(second, Vec::load(row + i + Vec::width));
  }
  if (i < whole) highest = max(highest, Vec::load(row + i));
  if (whole < n) second = max(second, Vec::load_partial(row + whole, n - whole, lowest));
  return max(highest, second).maximum();
}

inline float exponentials(float* row, std::size_t n, float scale) {
  const auto exp2 = precise_exp2();
  const Vec maximum = Vec::broadcast(maximum_of(row, n));
  const Vec factor = Vec::broadcast(scale * log2_e);
  return sum_over(n, [&](std::size_t i, std::size_t count) {
    const Vec weight = exp2((Vec::load_partial(row + i, count, lowest) - maximum) * factor);
    weight.store_partial(row + i, count);
    return weight;
  });
}

inline float log_sum_exp(const float* row, std::size_t n) {
  const float highest = maximum_of(row, n);
  const Vec maximum = Vec::broadcast(highest);
  const Vec factor = Vec::broadcast(log2_e);
  const auto exp2 = precise_exp2();
  const float total = sum_over(n, [&](std::size_t i, std::size_t count) {
    return exp2((Vec::load_partial(row + i, count, lowest) - maximum) * factor);
  });
  return highest + __builtin_logf(total);
}

}  // namespace glassformer::GLASSFORMER_ISA
