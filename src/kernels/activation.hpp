#pragma once

#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline Vec relu(Vec x) { return max(x, Vec::broadcast(0.0f)); }

// x · Phi(x) = x/2 · (1 + erf(x / sqrt 2)): the exact form (Hendrycks and Gimpel 2016), not tanh's.
// Not inlined: a matrix product would hold a copy for each vector of each of its tiles.
[[gnu::noinline]] inline Vec gelu(Vec x) {
  const Vec erf = {xsimd::erf((x * Vec::broadcast(0.70710678f)).lanes)};
  return Vec::broadcast(0.5f) * x * (Vec::broadcast(1.0f) + erf);
}

inline Vec elu_plus_one(Vec x) {
  const Vec negative = min(x, Vec::broadcast(0.0f)) * Vec::broadcast(log2_e);
  return max(x, Vec::broadcast(0.0f)) + exp2(negative);
}

inline void elu_plus_one(float* y, const float* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) elu_plus_one(Vec::load(x + i)).store(y + i);
  if (i < n) elu_plus_one(Vec::load_partial(x + i, n - i, 0.0f)).store_partial(y + i, n - i);
}

}  // namespace glassformer::GLASSFORMER_ISA
