#include <algorithm>
#include <vector>

#include "kernels/learning.hpp"
#include "layers/norm/norm.hpp"

namespace glassformer {
namespace {

void frozen_rows_backward(const Norm& norm, const NormGradientArgs& rows) {
  std::vector<float> row(rows.columns);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const std::size_t at = i * rows.stride;
    std::copy_n(rows.of_result + at, rows.columns, row.data());
    frozen_norm_backward(norm, rows.x + at, row);
    if (rows.replaces) set_to_zero({rows.of_x + at, rows.columns});
    kernels().add_scaled(rows.of_x + at, row.data(), rows.columns, 1.0f);
  }
}

void backward(const Norm& norm, const NormGradientArgs& args) {
  switch (norm.kind()) {
    case NormKind::standard:
      return learning_kernels().layer_norm_backward(args);
    case NormKind::unbiased:
      return learning_kernels().layer_norm_unbiased_backward(args);
    case NormKind::rms:
      return learning_kernels().rms_norm_backward(args);
  }
}

}  // namespace

void norm_gradient(const Norm& norm, const float* x, std::size_t rows, float* gradient) {
  const std::size_t columns = norm.weight().size();
  backward(norm, {.x = x,
                  .of_result = gradient,
                  .of_x = gradient,
                  .replaces = true,
                  .rows = rows,
                  .columns = columns,
                  .stride = columns,
                  .weight = norm.weight().data(),
                  .eps = norm.eps()});
}

void norm_backward(const Norm& norm, const ConstView& kept, const ConstView& x, const ConstView& y,
                   Tape& tape) {
  const Parameter* const bias = norm.bias_parameter();
  const NormGradientArgs args = {
      .x = kept.data(),
      .of_result = tape.gradient(y.data()),
      .of_x = tape.gradient(x.data()),
      .replaces = x.data() == y.data(),
      .rows = kept.shape(0),
      .columns = kept.shape(1),
      .stride = kept.shape(1),
      .weight = norm.weight().data(),
      .of_weight = tape.gradient(norm.weight_parameter()),
      .of_bias = bias ? tape.gradient(*bias) : nullptr,
      .eps = norm.eps(),
  };
  if (tape.rules != BackwardRules::gradients) return frozen_rows_backward(norm, args);
  backward(norm, args);
}

}  // namespace glassformer
