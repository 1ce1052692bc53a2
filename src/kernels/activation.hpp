#pragma once

#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline Vec relu(Vec x) { return max(Vec::broadcast(0.0f), x); }

/// The exact GELU, x · Phi(x) (Hendrycks and Gimpel 2016), not the tanh approximation. Computed as
/// max(x, 0) - t · Phi(-t) with t = |x|. For t <= 5.5, Phi(-t) is a polynomial in t - 2.75; the
/// maximum of its error times t is minimal, 3.3e-8. For larger t, t · Phi(-t) < 1.1e-7 keeps its
/// value at 5.5. NaN stays NaN.
class Gelu {
 public:
  Gelu() {
    for (std::size_t i = 0; i <= degree; ++i) coefficients_[i] = Vec::broadcast(polynomial[i]);
  }

  Vec operator()(Vec x) const {
    const Vec t = min(largest_, abs(x));
    const Vec u = t - center_;
    Vec p = coefficients_[degree];
    for (std::size_t i = degree; i > 0; --i) p = p * u + coefficients_[i - 1];
    return relu(x) - t * p;
  }

 private:
  static constexpr std::size_t degree = 16;
  static inline Held<float> polynomial[degree + 1] = {
      2.97976907e-3f,  -9.09363369e-3f, 1.25035441e-2f,  -9.94552752e-3f, 4.75425714e-3f,
      -1.12403083e-3f, -1.19435666e-4f, 1.81754658e-4f,  -4.93107132e-5f, -3.13759752e-6f,
      5.15611616e-6f,  -8.75687202e-7f, -1.83042295e-7f, 7.46019580e-8f,  -1.53366798e-9f,
      -2.09275964e-9f, 2.22061695e-10f};
  static inline Held<float> largest = 5.5f, center = 2.75f;

  Vec largest_ = Vec::broadcast(largest), center_ = Vec::broadcast(center);
  Vec coefficients_[degree + 1];
};

// σ(x) = 1 / (1 + e^-x). Not inlined because it has several callers.
[[gnu::noinline]] inline Vec sigmoid(Vec x) {
  const Vec one = Vec::broadcast(1.0f);
  const Vec bounded = min(Vec::broadcast(126.0f), x * Vec::broadcast(-log2_e));
  return one / (one + precise_exp2()(bounded));
}

// x = function(x), one vector at a time.
template <typename Function>
[[gnu::always_inline]] inline void replace(float* x, std::size_t n, const Function& function) {
  for (std::size_t i = 0; i < n; i += Vec::width) {
    const std::size_t count = n - i < Vec::width ? n - i : Vec::width;
    function(Vec::load_partial(x + i, count, 0.0f)).store_partial(x + i, count);
  }
}

// Uses tanh(x) = 2 σ(2x) - 1, hence (1 + tanh(x)) / 2 = σ(2x).
inline void activate(Activation activation, float* x, std::size_t n) {
  switch (activation) {
    case Activation::relu:
      return replace(x, n, relu);
    case Activation::gelu:
      return replace(x, n, Gelu());
    case Activation::gelu_tanh:
      return replace(x, n, [](Vec value) {
        const Vec cubed = value * value * value * Vec::broadcast(0.044715f);
        return value * sigmoid(Vec::broadcast(1.59576912f) * (value + cubed));  // 2 sqrt(2 / pi)
      });
    case Activation::quick_gelu:
    case Activation::silu: {
      const Vec k = Vec::broadcast(activation == Activation::silu ? 1.0f : 1.702f);
      return replace(x, n, [&](Vec value) { return value * sigmoid(k * value); });
    }
    case Activation::tanh:
      return replace(x, n, [](Vec value) {
        return Vec::broadcast(2.0f) * sigmoid(value + value) - Vec::broadcast(1.0f);
      });
    case Activation::linear:
      return;
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
