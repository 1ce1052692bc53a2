#pragma once

#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

// The lowest float stands for what lies past the row's end: its exponential is 0.
inline constexpr float lowest = -3.402823466e+38f;

inline void softmax(float* row, std::size_t n, float scale) {
  const std::size_t whole = n - n % Vec::width;
  const std::size_t rest = n - whole;

  Vec highest = Vec::broadcast(lowest);
  for (std::size_t i = 0; i < whole; i += Vec::width) highest = max(highest, Vec::load(row + i));
  if (rest > 0) highest = max(highest, Vec::load_partial(row + whole, rest, lowest));
  const Vec maximum = Vec::broadcast(highest.maximum());
  const Vec factor = Vec::broadcast(scale);

  Vec total = Vec::broadcast(0.0f);
  for (std::size_t i = 0; i < whole; i += Vec::width) {
    const Vec weight = exp((Vec::load(row + i) - maximum) * factor);
    weight.store(row + i);
    total = total + weight;
  }
  if (rest > 0) {
    const Vec weight = exp((Vec::load_partial(row + whole, rest, lowest) - maximum) * factor);
    weight.store_partial(row + whole, rest);
    total = total + weight;
  }

  const float inverse = 1.0f / total.sum();
  for (std::size_t i = 0; i < whole; i += Vec::width) {
    (Vec::load(row + i) * Vec::broadcast(inverse)).store(row + i);
  }
  for (std::size_t i = whole; i < n; ++i) row[i] *= inverse;
}

}  // namespace glassformer::GLASSFORMER_ISA
