#pragma once

#include "kernels/learning.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline void softmax_backward(const float* weights, float* row, std::size_t n) {
  const Vec mean = Vec::broadcast(dot(weights, row, n));
  for (std::size_t i = 0; i < n; i += Vec::width) {
    const std::size_t count = n - i < Vec::width ? n - i : Vec::width;
    const Vec difference = Vec::load_partial(row + i, count, 0.0f) - mean;
    (Vec::load_partial(weights + i, count, 0.0f) * difference).store_partial(row + i, count);
  }
}

inline void add_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                     float* sums) {
  for (std::size_t i = 0; i < columns; i += Vec::width) {
    const std::size_t count = columns - i < Vec::width ? columns - i : Vec::width;
    Vec sum = Vec::load_partial(sums + i, count, 0.0f);
    for (std::size_t row = 0; row < rows; ++row) {
      sum = sum + Vec::load_partial(x + row * stride + i, count, 0.0f);
    }
    sum.store_partial(sums + i, count);
  }
}

// Works on squares of 16 x 16 numbers, which stay in the first-level cache.
inline void transpose(const float* x, std::size_t x_stride, std::size_t rows, std::size_t columns,
                      float* y, std::size_t y_stride) {
  constexpr std::size_t side = 16;
  for (std::size_t row = 0; row < rows; row += side) {
    const std::size_t height = rows - row < side ? rows - row : side;
    for (std::size_t column = 0; column < columns; column += side) {
      const std::size_t width = columns - column < side ? columns - column : side;
      for (std::size_t j = 0; j < width; ++j) {
        float* const to = y + (column + j) * y_stride + row;
        const float* const from = x + row * x_stride + column + j;
        for (std::size_t i = 0; i < height; ++i) to[i] = from[i * x_stride];
      }
    }
  }
}

inline Vec square_root(Vec x) { return {xsimd::sqrt(x.lanes)}; }

inline void adam(const AdamArgs& args) {
  const Vec scale = Vec::broadcast(args.gradient_scale);
  const Vec beta1 = Vec::broadcast(args.beta1), rest1 = Vec::broadcast(1 - args.beta1);
  const Vec beta2 = Vec::broadcast(args.beta2), rest2 = Vec::broadcast(1 - args.beta2);
  const Vec kept = Vec::broadcast(1 - args.rate * args.decay);
  const Vec rate = Vec::broadcast(args.rate / args.correction1);
  const Vec correction2 = Vec::broadcast(1 / args.correction2), eps = Vec::broadcast(args.eps);
  for (std::size_t i = 0; i < args.n; i += Vec::width) {
    const std::size_t count = args.n - i < Vec::width ? args.n - i : Vec::width;
    const auto load = [&](const float* from) { return Vec::load_partial(from + i, count, 0.0f); };
    const Vec gradient = load(args.gradient) * scale;
    const Vec mean = beta1 * load(args.mean) + rest1 * gradient;
    const Vec square = beta2 * load(args.square) + rest2 * gradient * gradient;
    const Vec step = rate * mean / (square_root(square * correction2) + eps);
    mean.store_partial(args.mean + i, count);
    square.store_partial(args.square + i, count);
    (kept * load(args.value) - step).store_partial(args.value + i, count);
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
