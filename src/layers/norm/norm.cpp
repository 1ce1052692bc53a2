#include "layers/norm/norm.hpp"

#include "base/error.hpp"

namespace glassformer {
namespace {

const float* loaded(const AlignedBuffer& values) {
  if (values.empty()) throw_error(ErrorCode::internal, "a norm has no weights yet");
  return values.data();
}

}  // namespace

void Norm::declare(const ParameterScope& scope) {
  scope.declare("weight", {d_model_}, [this](std::span<const float> values, std::size_t) {
    weight_.assign(values.begin(), values.end());
  });
}

void Norm::operator()(const ConstView<2>& x, View<2> y) const {
  expect_shape("x of a norm", x, {x.shape(0), d_model_});
  expect_shape("y of a norm", y, {x.shape(0), d_model_});
  normalize({.x = x.data(),
             .y = y.data(),
             .rows = x.shape(0),
             .columns = d_model_,
             .weight = loaded(weight_),
             .bias = bias(),
             .eps = eps_});
}

void LayerNorm::declare(const ParameterScope& scope) {
  Norm::declare(scope);
  scope.declare("bias", {d_model()}, [this](std::span<const float> values, std::size_t) {
    bias_.assign(values.begin(), values.end());
  });
}

const float* LayerNorm::bias() const { return loaded(bias_); }

void StandardLayerNorm::normalize(const NormArgs& args) const { kernels().layer_norm(args); }

void UnbiasedLayerNorm::normalize(const NormArgs& args) const {
  kernels().layer_norm_unbiased(args);
}

void RmsNorm::normalize(const NormArgs& args) const { kernels().rms_norm(args); }

std::unique_ptr<Norm> make_norm(NormKind kind, std::size_t d_model, float eps) {
  switch (kind) {
    case NormKind::standard:
      return std::make_unique<StandardLayerNorm>(d_model, eps);
    case NormKind::unbiased:
      return std::make_unique<UnbiasedLayerNorm>(d_model, eps);
    case NormKind::rms:
      return std::make_unique<RmsNorm>(d_model, eps);
  }
  return nullptr;
}

}  // namespace glassformer
