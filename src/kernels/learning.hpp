#pragma once

#include <cstddef>

#include "kernels/kernels.hpp"

namespace glassformer {

/// The gradients of a norm over rows of x [rows, columns], from that of its result.
struct NormGradientArgs {
  const float* x = nullptr;
  const float* of_result = nullptr;
  float* of_x = nullptr;  ///< added to, or replaced; may be of_result if it is replaced
  bool replaces = false;
  std::size_t rows = 0, columns = 0;
  std::size_t stride = 0;         ///< floats from row to row, in all three
  const float* weight = nullptr;  ///< [columns]
  float* of_weight = nullptr;     ///< added to; may be null
  float* of_bias = nullptr;       ///< added to; may be null
  float eps = 0;
};

/// One step of AdamW (Loshchilov and Hutter 2019, algorithm 2) for n numbers.
struct AdamArgs {
  float* value = nullptr;
  const float* gradient = nullptr;
  float *mean = nullptr, *square = nullptr;  ///< moving averages of the gradient and its square
  std::size_t n = 0;
  float gradient_scale = 1;  ///< by which gradients are clipped
  float rate = 0, decay = 0;
  float beta1 = 0, beta2 = 0;
  float correction1 = 1, correction2 = 1;  ///< 1 - beta^step
  float eps = 0;
};

/// Kernels that only learning and gradients need. A program without them lacks these.
struct LearningKernels {
  /// gradient = gradient · activation'(x), element by element.
  void (*activate_backward)(Activation activation, const float* x, float* gradient, std::size_t n);
  /// g = weight · of_result. For layer_norm: of_x = (g - mean g - x̂ · mean(g · x̂)) / s.
  void (*layer_norm_backward)(const NormGradientArgs&);
  /// of_x = (g - mean g - c · Σ(g · x̂) / ((n - 1) t)) / S, with t the deviation over n - 1, S = t +
  /// eps, c = x - mean; without the last term if t is 0.
  void (*layer_norm_unbiased_backward)(const NormGradientArgs&);
  /// of_x = (g - x̂ · mean(g · x̂)) / s.
  void (*rms_norm_backward)(const NormGradientArgs&);
  /// Turns a row of gradients of softmax weights into gradients of the scores: weights · (row -
  /// Σ weights · row).
  void (*softmax_backward)(const float* weights, float* row, std::size_t n);
  /// sums [columns] += the sum of the rows of x, `stride` floats apart.
  void (*add_rows)(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                   float* sums);
  /// y [columns, rows] = xᵀ, rows of x and y `x_stride` and `y_stride` floats apart.
  void (*transpose)(const float* x, std::size_t x_stride, std::size_t rows, std::size_t columns,
                    float* y, std::size_t y_stride);
  /// Returns Σ a · b.
  float (*dot)(const float* a, const float* b, std::size_t n);
  void (*adam)(const AdamArgs&);
};

const LearningKernels& learning_kernels();
/// Returns those of the same instruction set.
const LearningKernels& learning_kernels(const Kernels& kernels);

}  // namespace glassformer
