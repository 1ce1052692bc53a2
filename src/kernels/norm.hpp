#pragma once

#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

struct RowStatistics {
  float mean;
  float squares;  // sum of squared distances from the mean
};

inline RowStatistics statistics(const float* x, std::size_t n) {
  const float sum = sum_over(
      n, [&](std::size_t i, std::size_t count) { return Vec::load_partial(x + i, count, 0.0f); });
  const float mean = sum / static_cast<float>(n);
  const Vec center = Vec::broadcast(mean);
  const float squares = sum_over(n, [&](std::size_t i, std::size_t count) {
    const Vec distance = Vec::load_partial(x + i, count, mean) - center;
    return distance * distance;
  });
  return {mean, squares};
}

inline void normalize_row(const float* x, float* y, const NormArgs& args, float mean,
                          float inverse) {
  const Vec center = Vec::broadcast(mean);
  const Vec factor = Vec::broadcast(inverse);
  std::size_t i = 0;
  for (; i + Vec::width <= args.columns; i += Vec::width) {
    const Vec normal = (Vec::load(x + i) - center) * factor;
    (normal * Vec::load(args.weight + i) + Vec::load(args.bias + i)).store(y + i);
  }
  for (; i < args.columns; ++i) {
    y[i] = (x[i] - mean) * inverse * args.weight[i] + args.bias[i];
  }
}

// 0, or NaN if the squares overflow. Without it their inverse would be 0, and a meaningless result
// would look valid.
inline float overflow_of(const RowStatistics& row) { return row.squares * 0.0f; }

inline void layer_norm(const NormArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.columns;
    const RowStatistics row_of = statistics(x, args.columns);
    const float variance = row_of.squares / static_cast<float>(args.columns);
    const float inverse = 1.0f / __builtin_sqrtf(variance + args.eps) + overflow_of(row_of);
    normalize_row(x, args.y + row * args.columns, args, row_of.mean, inverse);
  }
}

inline void layer_norm_unbiased(const NormArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.columns;
    const RowStatistics row_of = statistics(x, args.columns);
    const float variance = row_of.squares / static_cast<float>(args.columns - 1);
    const float inverse = 1.0f / (__builtin_sqrtf(variance) + args.eps) + overflow_of(row_of);
    normalize_row(x, args.y + row * args.columns, args, row_of.mean, inverse);
  }
}

inline void rms_norm(const NormArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.columns;
    float* y = args.y + row * args.columns;
    const float squares = sum_over(args.columns, [&](std::size_t i, std::size_t count) {
      const Vec element = Vec::load_partial(x + i, count, 0.0f);
      return element * element;
    });
    const float mean = squares / static_cast<float>(args.columns);
    const float inverse = 1.0f / __builtin_sqrtf(mean + args.eps) + overflow_of({0.0f, squares});
    for (std::size_t i = 0; i < args.columns; ++i) y[i] = x[i] * inverse * args.weight[i];
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
