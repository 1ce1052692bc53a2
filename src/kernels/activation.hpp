#pragma once

#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline Vec relu(Vec x) { return max(Vec::broadcast(0.0f), x); }

// x · Phi(x) = x/2 · (1 + erf(x / sqrt 2)): the exact form (Hendrycks and Gimpel 2016), not tanh's.
// Not inlined: a matrix product would hold a copy for each vector of each of its tiles.
[[gnu::noinline]] inline Vec gelu(Vec x) {
  const Vec erf = {xsimd::erf((x * Vec::broadcast(0.70710678f)).lanes)};
  return Vec::broadcast(0.5f) * x * (Vec::broadcast(1.0f) + erf);
}

// σ(x) = 1 / (1 + e^-x). Not inlined, as above.
[[gnu::noinline]] inline Vec sigmoid(Vec x) {
  const Vec one = Vec::broadcast(1.0f);
  const Vec bounded = min(Vec::broadcast(126.0f), x * Vec::broadcast(-log2_e));
  return one / (one + precise_exp2()(bounded));
}

// tanh(x) = 2 σ(2x) - 1, and so (1 + tanh(x)) / 2 = σ(2x).
inline Vec activated(Activation activation, Vec x) {
  switch (activation) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh: {
      const Vec cubed = x * x * x * Vec::broadcast(0.044715f);
      return x * sigmoid(Vec::broadcast(1.59576912f) * (x + cubed));  // 2 sqrt(2 / pi)
    }
    case Activation::quick_gelu:
      return x * sigmoid(Vec::broadcast(1.702f) * x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::tanh:
      return Vec::broadcast(2.0f) * sigmoid(x + x) - Vec::broadcast(1.0f);
  }
  return x;
}

inline void activate(Activation activation, float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += Vec::width) {
    const std::size_t count = n - i < Vec::width ? n - i : Vec::width;
    activated(activation, Vec::load_partial(x + i, count, 0.0f)).store_partial(x + i, count);
  }
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
