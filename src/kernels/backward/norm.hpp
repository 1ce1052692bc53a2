#pragma once

#include "kernels/backward/rows.hpp"
#include "kernels/learning.hpp"
#include "kernels/norm.hpp"

namespace glassformer::GLASSFORMER_ISA {

// The statistics of a row: x̂ = (x - mean) · inverse, and the factors of mean g and mean(g · x̂) · x̂
// in the gradient.
struct NormRow {
  float mean, inverse, center, shrink;
};

// of_x = (g - center · mean g - shrink · mean(g · x̂) · x̂) · inverse.
[[gnu::noinline]] inline void norm_row_backward(const NormGradientArgs& args, std::size_t row,
                                                const NormRow& of) {
  const std::size_t n = args.columns;
  const float* x = args.x + row * args.stride;
  const float* of_result = args.of_result + row * args.stride;
  float* of_x = args.of_x + row * args.stride;
  const Vec mean = Vec::broadcast(of.mean), inverse = Vec::broadcast(of.inverse);
  const auto load = [](const float* from, std::size_t i, std::size_t count) {
    return Vec::load_partial(from + i, count, 0.0f);
  };
  const auto normal = [&](std::size_t i, std::size_t count) {
    return (Vec::load_partial(x + i, count, of.mean) - mean) * inverse;
  };
  const auto weighted = [&](std::size_t i, std::size_t count) {
    return load(of_result, i, count) * load(args.weight, i, count);
  };
  const auto size = static_cast<float>(n);
  const float sum = sum_over(n, weighted) / size;
  const float along = sum_over(
      n, [&](std::size_t i, std::size_t count) { return weighted(i, count) * normal(i, count); });
  const Vec center = Vec::broadcast(of.center * sum),
            slope = Vec::broadcast(of.shrink * along / size);
  for (std::size_t i = 0; i < n; i += Vec::width) {
    const std::size_t count = n - i < Vec::width ? n - i : Vec::width;
    const Vec x_hat = normal(i, count), result = load(of_result, i, count);
    if (args.of_weight) {
      (load(args.of_weight, i, count) + result * x_hat).store_partial(args.of_weight + i, count);
    }
    if (args.of_bias) {
      (load(args.of_bias, i, count) + result).store_partial(args.of_bias + i, count);
    }
    Vec gradient = (result * load(args.weight, i, count) - center - slope * x_hat) * inverse;
    if (!args.replaces) gradient = gradient + load(of_x, i, count);
    gradient.store_partial(of_x + i, count);
  }
}

inline void layer_norm_backward(const NormGradientArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const RowStatistics of = statistics(args.x + row * args.stride, args.columns);
    const float variance = of.squares / static_cast<float>(args.columns);
    norm_row_backward(args, row, {of.mean, 1.0f / __builtin_sqrtf(variance + args.eps), 1, 1});
  }
}

inline void layer_norm_unbiased_backward(const NormGradientArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const RowStatistics of = statistics(args.x + row * args.stride, args.columns);
    const auto n = static_cast<float>(args.columns);
    const float deviation = __builtin_sqrtf(of.squares / (n - 1));
    const float spread = deviation + args.eps;
    // c / ((n - 1) t) = x̂ · S / ((n - 1) t)
    const float shrink = deviation > 0 ? n * spread / ((n - 1) * deviation) : 0.0f;
    norm_row_backward(args, row, {of.mean, 1.0f / spread, 1, shrink});
  }
}

inline void rms_norm_backward(const NormGradientArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.stride;
    const float mean = dot(x, x, args.columns) / static_cast<float>(args.columns);
    norm_row_backward(args, row, {0, 1.0f / __builtin_sqrtf(mean + args.eps), 0, 1});
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
