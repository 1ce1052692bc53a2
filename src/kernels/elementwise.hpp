#pragma once

#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline void add_scaled(float* y, const float* x, std::size_t n, float scale) {
  const Vec factor = Vec::broadcast(scale);
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) {
    (Vec::load(y + i) + factor * Vec::load(x + i)).store(y + i);
  }
  for (; i < n; ++i) y[i] += scale * x[i];
}

inline void scale(float* y, const float* x, std::size_t n, float scale) {
  const Vec factor = Vec::broadcast(scale);
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) (factor * Vec::load(x + i)).store(y + i);
  for (; i < n; ++i) y[i] = scale * x[i];
}

}  // namespace glassformer::GLASSFORMER_ISA
