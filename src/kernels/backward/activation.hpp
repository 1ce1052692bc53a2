#pragma once

#include "kernels/activation.hpp"

namespace glassformer::GLASSFORMER_ISA {

/// Φ(x), the distribution function of the normal distribution, from gelu(x) = x · Φ(x); near zero
/// from its series.
inline Vec normal_distribution(Vec x, const Gelu& gelu) {
  const Vec half = Vec::broadcast(0.5f);
  const Vec near = Vec::broadcast(0.02f);
  // 1/2 + (x - x³/6 + x⁵/40) / √(2π)
  const Vec square = x * x;
  const Vec series = half + x * Vec::broadcast(0.39894228f) *
                                (Vec::broadcast(1.0f) - square * Vec::broadcast(1.0f / 6.0f) +
                                 square * square * Vec::broadcast(1.0f / 40.0f));
  const auto is_near = near >= abs(x);
  const Vec divisor = {xsimd::select(is_near, Vec::broadcast(1.0f).lanes, x.lanes)};
  const Vec quotient = gelu(x) / divisor;
  return {xsimd::select(is_near, series.lanes, quotient.lanes)};
}

/// e^x for x <= 0.
inline Vec exponential(Vec x) { return precise_exp2()(x * Vec::broadcast(log2_e)); }

// gradient = gradient · derivative(x), one vector at a time.
template <typename Derivative>
[[gnu::always_inline]] inline void multiply_by(const float* x, float* gradient, std::size_t n,
                                               const Derivative& derivative) {
  for (std::size_t i = 0; i < n; i += Vec::width) {
    const std::size_t count = n - i < Vec::width ? n - i : Vec::width;
    const Vec factor = derivative(Vec::load_partial(x + i, count, 0.0f));
    (Vec::load_partial(gradient + i, count, 0.0f) * factor).store_partial(gradient + i, count);
  }
}

// With s = σ(k x): (x s)' = s + k x s (1 - s).
inline Vec swish_derivative(Vec x, Vec k, const Sigmoid& sigmoid) {
  const Vec one = Vec::broadcast(1.0f), s = sigmoid(k * x);
  return s + k * x * s * (one - s);
}

inline void activate_backward(Activation activation, const float* x, float* gradient,
                              std::size_t n) {
  const Vec zero = Vec::broadcast(0.0f), one = Vec::broadcast(1.0f);
  const Sigmoid sigmoid;
  switch (activation) {
    case Activation::relu:
      return multiply_by(x, gradient, n, [&](Vec value) -> Vec {
        return {xsimd::select(zero >= value, zero.lanes, one.lanes)};
      });
    case Activation::gelu: {
      const Gelu gelu;
      return multiply_by(x, gradient, n, [&](Vec value) {  // Φ(x) + x φ(x)
        const Vec density =
            Vec::broadcast(0.39894228f) * exponential(zero - value * value * Vec::broadcast(0.5f));
        return normal_distribution(value, gelu) + value * density;
      });
    }
    case Activation::gelu_tanh:  // x σ(2u) with u = √(2/π) (x + 0.044715 x³)
      return multiply_by(x, gradient, n, [&](Vec value) {
        const Vec square = value * value;
        const Vec k = Vec::broadcast(1.59576912f);
        const Vec s = sigmoid(k * value * (one + Vec::broadcast(0.044715f) * square));
        const Vec slope = k * (one + Vec::broadcast(3 * 0.044715f) * square);
        return s + value * s * (one - s) * slope;
      });
    case Activation::quick_gelu:
    case Activation::silu: {
      const Vec k = Vec::broadcast(activation == Activation::silu ? 1.0f : 1.702f);
      return multiply_by(x, gradient, n,
                         [&](Vec value) { return swish_derivative(value, k, sigmoid); });
    }
    case Activation::tanh:
      return multiply_by(x, gradient, n, [&](Vec value) {
        const Vec s = sigmoid(value + value);
        return Vec::broadcast(4.0f) * s * (one - s);
      });
    case Activation::linear:
      return;
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
