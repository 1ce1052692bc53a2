#pragma once

#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

struct RowStatistics {
  float mean;
  float squares;  // sum of squared distances from the mean
};

inline RowStatistics statistics(const float* x, std::size_t n) {
  std::size_t i = 0;
  Vec sum = Vec::broadcast(0.0f);
  for (; i + Vec::width <= n; i += Vec::width) sum = sum + Vec::load(x + i);
  if (i < n) sum = sum + Vec::load_partial(x + i, n - i, 0.0f);
  const float mean = sum.sum() / static_cast<float>(n);

  const Vec centre = Vec::broadcast(mean);
  Vec squares = Vec::broadcast(0.0f);
  for (i = 0; i + Vec::width <= n; i += Vec::width) {
    const Vec distance = Vec::load(x + i) - centre;
    squares = multiply_add(distance, distance, squares);
  }
  if (i < n) {
    const Vec distance = Vec::load_partial(x + i, n - i, mean) - centre;
    squares = multiply_add(distance, distance, squares);
  }
  return {mean, squares.sum()};
}

inline void normalise_row(const float* x, float* y, const LayerNormArgs& args, float mean,
                          float inverse) {
  const Vec centre = Vec::broadcast(mean);
  const Vec factor = Vec::broadcast(inverse);
  std::size_t i = 0;
  for (; i + Vec::width <= args.columns; i += Vec::width) {
    const Vec normal = (Vec::load(x + i) - centre) * factor;
    multiply_add(normal, Vec::load(args.weight + i), Vec::load(args.bias + i)).store(y + i);
  }
  const std::size_t rest = args.columns - i;
  if (rest > 0) {
    const Vec normal = (Vec::load_partial(x + i, rest, 0.0f) - centre) * factor;
    const Vec weight = Vec::load_partial(args.weight + i, rest, 0.0f);
    const Vec bias = Vec::load_partial(args.bias + i, rest, 0.0f);
    multiply_add(normal, weight, bias).store_partial(y + i, rest);
  }
}

inline void layer_norm(const LayerNormArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.columns;
    const RowStatistics row_of = statistics(x, args.columns);
    const float variance = row_of.squares / static_cast<float>(args.columns);
    const float inverse = 1.0f / __builtin_sqrtf(variance + args.eps);
    normalise_row(x, args.y + row * args.columns, args, row_of.mean, inverse);
  }
}

inline void layer_norm_unbiased(const LayerNormArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.columns;
    const RowStatistics row_of = statistics(x, args.columns);
    const float variance = row_of.squares / static_cast<float>(args.columns - 1);
    const float inverse = 1.0f / (__builtin_sqrtf(variance) + args.eps);
    normalise_row(x, args.y + row * args.columns, args, row_of.mean, inverse);
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
