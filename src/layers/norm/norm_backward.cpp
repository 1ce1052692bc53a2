#include "kernels/learning.hpp"
#include "layers/norm/norm.hpp"

namespace glassformer {

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
  switch (norm.kind()) {
    case NormKind::standard:
      return learning_kernels().layer_norm_backward(args);
    case NormKind::unbiased:
      return learning_kernels().layer_norm_unbiased_backward(args);
    case NormKind::rms:
      return learning_kernels().rms_norm_backward(args);
  }
}

}  // namespace glassformer
