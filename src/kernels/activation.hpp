#pragma once

#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline Vec relu(Vec x) { return max(Vec::broadcast(0.0f), x); }

// x · Phi(x) = x/2 · (1 + erf(x / sqrt 2)): the exact form (Hendrycks and Gimpel 2016), not tanh's.
// Not inlined: a matrix product would hold a copy for each vector of each of its tiles.
[[gnu::noinline]] inline Vec gelu(Vec x) {
  const Vec erf = {xsimd::erf((x * Vec::broadcast(0.70710678f)).lanes)};
  return Vec::broadcast(0.5f) * x * (Vec::broadcast(1.0f) + erf);
}

inline void elu_plus_one(float* y, const float* x, std::size_t n) {
  const auto exp2 = precise_exp2();
  const Vec zero = Vec::broadcast(0.0f), to_base_2 = Vec::broadcast(log2_e);
  for (std::size_t i = 0; i < n; i += Vec::width) {
    const std::size_t count = n - i < Vec::width ? n - i : Vec::width;
    const Vec value = Vec::load_partial(x + i, count, 0.0f);
    (max(zero, value) + exp2(min(zero, value) * to_base_2)).store_partial(y + i, count);
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
