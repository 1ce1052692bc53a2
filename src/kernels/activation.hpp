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
    // Every fourth power of u apart: each step waits for the one before.
    const Vec u2 = u * u, u4 = u2 * u2;
    Vec p[4];
    for (std::size_t k = 0; k < 4; ++k) p[k] = coefficients_[degree - 4 + k];
    p[0] = coefficients_[degree] * u4 + p[0];
    for (std::size_t i = degree - 4; i > 0; i -= 4) {
      for (std::size_t k = 0; k < 4; ++k) p[k] = p[k] * u4 + coefficients_[i - 4 + k];
    }
    return relu(x) - t * ((p[0] + p[1] * u) + (p[2] + p[3] * u) * u2);
  }

 private:
  static constexpr std::size_t degree = 16;  // a multiple of 4
  static inline Held<float> polynomial[degree + 1] = {
      2.97976907e-3f,  -9.09363369e-3f, 1.25035441e-2f,  -9.94552752e-3f, 4.75425714e-3f,
      -1.12403083e-3f, -1.19435666e-4f, 1.81754658e-4f,  -4.93107132e-5f, -3.13759752e-6f,
      5.15611616e-6f,  -8.75687202e-7f, -1.83042295e-7f, 7.46019580e-8f,  -1.53366798e-9f,
      -2.09275964e-9f, 2.22061695e-10f};
  static inline Held<float> largest = 5.5f, center = 2.75f;

  Vec largest_ = Vec::broadcast(largest), center_ = Vec::broadcast(center);
  Vec coefficients_[degree + 1];
};

/// σ(x) = 1 / (1 + e^-x).
class Sigmoid {
 public:
#ifdef __wasm__
  [[gnu::noinline]]  // it has several callers
#endif
  Vec operator()(Vec x) const {
    return one_ / (one_ + exp2_(min(bound_, x * Vec::broadcast(-log2_e))));
  }

 private:
  Exp2<5> exp2_ = precise_exp2();
  Vec one_ = Vec::broadcast(1.0f), bound_ = Vec::broadcast(126.0f);
};

// Elements of a matrix: x [rows, columns], rows `stride` floats apart.
struct Block {
  float* x;
  std::size_t rows, columns, stride;
};

// x = function(x), one vector at a time.
template <typename Function>
[[gnu::always_inline]] inline void replace(const Block& block, const Function& function) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    float* const x = block.x + row * block.stride;
    for (std::size_t i = 0; i < block.columns; i += Vec::width) {
      const std::size_t left = block.columns - i, count = left < Vec::width ? left : Vec::width;
      function(Vec::load_partial(x + i, count, 0.0f)).store_partial(x + i, count);
    }
  }
}

// Uses tanh(x) = 2 σ(2x) - 1, hence (1 + tanh(x)) / 2 = σ(2x).
[[gnu::noinline]] inline void activate_block(Activation activation, const Block& block) {
  switch (activation) {
    case Activation::relu:
      return replace(block, relu);
    case Activation::gelu:
      return replace(block, Gelu());
    case Activation::gelu_tanh:
      return replace(block, [sigmoid = Sigmoid()](Vec value) {
        const Vec cubed = value * value * value * Vec::broadcast(0.044715f);
        return value * sigmoid(Vec::broadcast(1.59576912f) * (value + cubed));  // 2 sqrt(2 / pi)
      });
    case Activation::quick_gelu:
    case Activation::silu: {
      const Vec k = Vec::broadcast(activation == Activation::silu ? 1.0f : 1.702f);
      return replace(block,
                     [=, sigmoid = Sigmoid()](Vec value) { return value * sigmoid(k * value); });
    }
    case Activation::tanh:
      return replace(block, [sigmoid = Sigmoid()](Vec value) {
        return Vec::broadcast(2.0f) * sigmoid(value + value) - Vec::broadcast(1.0f);
      });
    case Activation::linear:
      return;
  }
}

inline void activate(Activation activation, float* x, std::size_t n) {
  activate_block(activation, {x, 1, n, n});
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
