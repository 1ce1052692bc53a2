#include "layers/layer_norm.hpp"

#include "error.hpp"

namespace glassformer {

void LayerNorm::declare(const ParameterScope& scope) {
  scope.declare("weight", {d_model_}, [this](std::span<const float> values) {
    weight_.assign(values.begin(), values.end());
  });
  scope.declare("bias", {d_model_}, [this](std::span<const float> values) {
    bias_.assign(values.begin(), values.end());
  });
}

void LayerNorm::operator()(const ConstView<2>& x, View<2> y) const {
  expect_shape("x of a layer norm", x, {x.shape(0), d_model_});
  expect_shape("y of a layer norm", y, {x.shape(0), d_model_});
  if (weight_.empty() || bias_.empty()) {
    throw Error(ErrorCode::internal, "a layer norm has no weights yet");
  }
  normalise({.x = x.data(),
             .y = y.data(),
             .rows = x.shape(0),
             .columns = d_model_,
             .weight = weight_.data(),
             .bias = bias_.data(),
             .eps = eps_});
}

void StandardLayerNorm::normalise(const LayerNormArgs& args) const { kernels().layer_norm(args); }

void UnbiasedLayerNorm::normalise(const LayerNormArgs& args) const {
  kernels().layer_norm_unbiased(args);
}

}  // namespace glassformer
