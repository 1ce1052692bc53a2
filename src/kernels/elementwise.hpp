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

inline void multiply(float* y, const float* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) (Vec::load(y + i) * Vec::load(x + i)).store(y + i);
  for (; i < n; ++i) y[i] *= x[i];
}

inline std::size_t first_at_least(const float* x, std::size_t n, float least) {
  constexpr std::size_t at_once = 4;
  const Vec limit = Vec::broadcast(least);
  std::size_t i = 0;
  for (; i + at_once * Vec::width <= n; i += at_once * Vec::width) {
    auto found = Vec::load(x + i) >= limit;
    for (std::size_t v = 1; v < at_once; ++v) {
      found = found | (Vec::load(x + i + v * Vec::width) >= limit);
    }
    if (xsimd::any(found)) break;
  }
  while (i < n && !(x[i] >= least)) ++i;
  return i;
}

}  // namespace glassformer::GLASSFORMER_ISA
