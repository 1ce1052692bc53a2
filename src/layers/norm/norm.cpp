#include "layers/norm/norm.hpp"

namespace glassformer {
namespace {

// Numbers that take longer to normalize than to share: a few microseconds.
constexpr std::size_t least_numbers = 8192;

}  // namespace

void Norm::declare(const ParameterScope& scope) { scope.declare("weight", {d_model_}, weight_); }

void Norm::operator()(const ConstView& x, View y) const {
  expect_shape("x of a norm", x, {x.shape(0), d_model_});
  expect_shape("y of a norm", y, {x.shape(0), d_model_});
  normalize(x.data(), y.data(), x.shape(0));
}

void Norm::operator()(const ConstView& x, View y, const Run& run) const {
  if (run.tape()) {
    const ConstView kept = run.tape()->keep(x);
    run.tape()->record(
        [this, kept, x, y](Tape& tape) { norm_backward(*this, kept, x, const_view(y), tape); });
  }
  expect_shape("x of a norm", x, {x.shape(0), d_model_});
  expect_shape("y of a norm", y, {x.shape(0), d_model_});
  const auto norm = [&](std::size_t first, std::size_t end) {
    normalize(x.data() + first * d_model_, y.data() + first * d_model_, end - first);
  };
  run.session().pool.split(x.shape(0), 1, least_numbers / d_model_ + 1, norm);
}

void Norm::apply(float* rows, std::size_t n, std::size_t stride, std::size_t heads,
                 const Run& run) const {
  for (std::size_t i = 0; i < n; ++i) {
    const View row = view(rows + i * stride, {heads, d_model_});
    if (run.tape()) {
      (*this)(const_view(row), row, run);
    } else {
      normalize(row.data(), row.data(), heads);
    }
  }
}

void Norm::normalize(const float* x, float* y, std::size_t rows) const {
  normalize({.x = x,
             .y = y,
             .rows = rows,
             .columns = d_model_,
             .weight = loaded(weight_, "a norm"),
             .eps = eps_});
}

LayerNorm::LayerNorm(std::size_t d_model, const NormConfig& config)
    : Norm(d_model, config.eps), biased_(config.bias) {
  if (!biased_) bias_.value.resize(d_model);
}

void LayerNorm::declare(const ParameterScope& scope) {
  Norm::declare(scope);
  if (biased_) scope.declare("bias", {d_model()}, bias_);
}

const float* LayerNorm::bias() const { return biased_ ? shift() : nullptr; }

const float* LayerNorm::shift() const { return loaded(bias_, "a norm"); }

void StandardLayerNorm::normalize(const NormArgs& args) const {
  NormArgs shifted = args;
  shifted.bias = shift();
  kernels().layer_norm(shifted);
}

void UnbiasedLayerNorm::normalize(const NormArgs& args) const {
  NormArgs shifted = args;
  shifted.bias = shift();
  kernels().layer_norm_unbiased(shifted);
}

void RmsNorm::normalize(const NormArgs& args) const { kernels().rms_norm(args); }

std::unique_ptr<Norm> make_norm(const NormConfig& config, std::size_t d_model) {
  switch (config.kind) {
    case NormKind::standard:
      return std::make_unique<StandardLayerNorm>(d_model, config);
    case NormKind::unbiased:
      return std::make_unique<UnbiasedLayerNorm>(d_model, config);
    case NormKind::rms:
      return std::make_unique<RmsNorm>(d_model, config.eps);
  }
  return nullptr;
}

}  // namespace glassformer
