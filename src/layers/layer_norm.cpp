#include "layers/layer_norm.hpp"

#include <algorithm>

namespace glassformer {

LayerNorm::LayerNorm(std::size_t d_model, float eps)
    : weight_(d_model, 1.0f), bias_(d_model, 0.0f), eps_(eps) {}

void LayerNorm::declare(const ParameterScope& scope) {
  scope.declare("weight", {weight_.size()}, [this](std::span<const float> values) {
    std::copy(values.begin(), values.end(), weight_.begin());
  });
  scope.declare("bias", {bias_.size()}, [this](std::span<const float> values) {
    std::copy(values.begin(), values.end(), bias_.begin());
  });
}

void LayerNorm::operator()(const ConstView<2>& x, View<2> y) const {
  expect_shape("x of a layer norm", x, {x.shape(0), weight_.size()});
  expect_shape("y of a layer norm", y, {x.shape(0), weight_.size()});
  normalise({.x = x.data(),
             .y = y.data(),
             .rows = x.shape(0),
             .columns = weight_.size(),
             .weight = weight_.data(),
             .bias = bias_.data(),
             .eps = eps_});
}

void StandardLayerNorm::normalise(const LayerNormArgs& args) const { kernels().layer_norm(args); }

void UnbiasedLayerNorm::normalise(const LayerNormArgs& args) const {
  kernels().layer_norm_unbiased(args);
}

}  // namespace glassformer
