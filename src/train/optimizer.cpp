#include "train/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/learning.hpp"
#include "train/orthogonal.hpp"

namespace glassformer {

Optimizer::Optimizer(LearnedParameters& parameters, const OptimizerOptions& options, Pool& pool)
    : parameters_(parameters), options_(options), pool_(pool) {
  for (const LearnedParameters::Part& part : parameters.parts()) {
    Moments& moments = moments_.emplace_back();
    moments.mean.resize(part.size());
    if (!turns(part)) moments.square.resize(part.size());
  }
}

bool Optimizer::turns(const LearnedParameters::Part& part) const {
  return options_.kind == OptimizerKind::muon && part.shape.size() == 2 &&
         part.name.find(".layers.") != std::string::npos;
}

float Optimizer::step(ParameterGradients& gradients, float rate) {
  double squares = 0;
  for (std::size_t slot = 1; slot <= gradients.size(); ++slot) {
    const std::span<const float> gradient = gradients.of(slot);
    squares += double{learning_kernels().dot(gradient.data(), gradient.data(), gradient.size())};
  }
  const auto norm = static_cast<float>(std::sqrt(squares));
  if (!std::isfinite(norm)) return norm;
  const float scale = norm > options_.clip ? options_.clip / norm : 1.0f;
  ++steps_;
  pool_.each(moments_.size(), [&](std::size_t i, std::size_t) {
    const LearnedParameters::Part& part = parameters_.parts()[i];
    const std::span<const float> gradient = part.of(gradients);
    if (turns(part)) {
      muon(part, moments_[i], gradient, scale, rate);
    } else {
      adam(part, moments_[i], gradient, scale, rate);
    }
    parameters_.pack(i);
  });
  return norm;
}

void Optimizer::adam(const LearnedParameters::Part& part, Moments& moments,
                     std::span<const float> gradient, float scale, float rate) const {
  const auto steps = static_cast<double>(steps_);
  const auto correction = [steps](float beta) {
    return static_cast<float>(1 - std::pow(double{beta}, steps));
  };
  learning_kernels().adam({.value = part.value.data(),
                           .gradient = gradient.data(),
                           .mean = moments.mean.data(),
                           .square = moments.square.data(),
                           .n = part.size(),
                           .gradient_scale = scale,
                           .rate = rate,
                           .decay = options_.decay,
                           .beta1 = options_.beta1,
                           .beta2 = options_.beta2,
                           .correction1 = correction(options_.beta1),
                           .correction2 = correction(options_.beta2),
                           .eps = options_.eps});
}

// m ← β m + (1 - β) g; the update is orthogonalize((1 - β) g + β m), as large as one of Adam's
// through the factor 0.2 √max(rows, columns) (Liu et al. 2025, section 2.2).
void Optimizer::muon(const LearnedParameters::Part& part, Moments& moments,
                     std::span<const float> gradient, float scale, float rate) {
  const Kernels& run = kernels();
  const float beta = options_.momentum, rest = (1 - beta) * scale;
  const std::size_t n = part.size();
  float* const mean = moments.mean.data();
  run.scale(mean, mean, n, beta);
  run.add_scaled(mean, gradient.data(), n, rest);
  std::vector<float> update(n);
  run.scale(update.data(), mean, n, beta);
  run.add_scaled(update.data(), gradient.data(), n, rest);
  orthogonalize(update, part.shape[0], part.shape[1]);
  const auto longest = static_cast<float>(std::max(part.shape[0], part.shape[1]));
  float* const value = part.value.data();
  run.scale(value, value, n, 1 - rate * options_.decay);
  run.add_scaled(value, update.data(), n, -rate * 0.2f * std::sqrt(longest));
}

std::vector<Optimizer::State> Optimizer::states() {
  std::vector<State> states;
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const std::string& name = parameters_.parts()[i].name;
    const bool turned = moments_[i].square.empty();
    states.push_back({name + (turned ? ".momentum" : ".mean"), moments_[i].mean});
    if (!turned) states.push_back({name + ".square", moments_[i].square});
  }
  return states;
}

}  // namespace glassformer
