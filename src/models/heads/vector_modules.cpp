#include "models/heads/vector_modules.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

constexpr double least_norm = 1e-12;
constexpr float layer_norm_eps = 1e-5f;  // PyTorch's default, which is not in the files

}  // namespace

void normalize(std::span<float> x) {
  double squares = 0;
  for (const float number : x) squares += double{number} * double{number};
  const double length = std::max(std::sqrt(squares), least_norm);
  for (float& number : x) number = static_cast<float>(number / length);
}

VectorModules::VectorModules(std::span<const VectorModule> modules) {
  for (const VectorModule& module : modules) {
    Step& step = steps_.emplace_back();
    step.module = module;
    if (module.kind == VectorModule::Kind::dense) {
      step.dense = std::make_unique<Linear>(module.in, module.out, Compute::f32);
    } else if (module.kind == VectorModule::Kind::layer_norm) {
      step.norm = make_norm({.kind = NormKind::standard, .eps = layer_norm_eps}, module.in);
    }
  }
}

void VectorModules::declare(const ParameterScope& scope) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.dense) {
      step.dense->declare(scope.scope(i), step.module.bias ? Bias::present : Bias::none);
    }
    if (step.norm) step.norm->declare(scope.scope(i));
  }
}

std::vector<float> VectorModules::operator()(std::vector<float> x, Session& session) const {
  for (const Step& step : steps_) {
    if (step.dense) {
      std::vector<float> y(step.module.out);
      (*step.dense)(const_view(x.data(), {1, x.size()}), view(y.data(), {1, y.size()}), session);
      kernels().activate(step.module.activation, y.data(), y.size());
      x = std::move(y);
    } else if (step.norm) {
      (*step.norm)(const_view(x.data(), {1, x.size()}), view(x.data(), {1, x.size()}));
    } else {
      normalize(x);
    }
  }
  return x;
}

}  // namespace glassformer
