#include "models/dictionary/dictionary.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace glassformer {

Dictionary::Dictionary(DictionaryConfig config)
    : config_(std::move(config)), encoder_(config_.d_model, config_.features, Compute::f32) {}

std::vector<NamedParameter> Dictionary::parameters() {
  std::vector<NamedParameter> parameters;
  const ParameterScope scope(parameters, config_.writes);
  encoder_.declare(scope.scope("encoder"), Bias::present);
  scope.scope("decoder").declare("weight", {config_.features, config_.d_model}, decoder_);
  scope.scope("decoder").declare("bias", {config_.d_model}, bias_);
  if (config_.marks > 0) scope.declare("marks", {config_.marks}, marks_);
  return parameters;
}

std::vector<ActiveFeature> Dictionary::active(std::span<const float> pre) const {
  // Equal ones in the order of their numbers.
  const auto stronger = [](const ActiveFeature& a, const ActiveFeature& b) {
    return a.activation > b.activation || (a.activation == b.activation && a.feature < b.feature);
  };
  std::vector<ActiveFeature> found;
  found.reserve(4 * config_.active);
  float least = 0;  // what a feature must exceed
  const auto keep_strongest = [&] {
    if (found.size() <= config_.active) return;
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(config_.active);
    std::ranges::nth_element(found, end - 1, stronger);
    found.erase(end, found.end());
    least = found.back().activation;
  };
  for (std::size_t i = 0; i < pre.size(); ++i) {
    if (!(pre[i] > least)) continue;
    found.push_back({static_cast<std::uint32_t>(i), pre[i]});
    if (found.size() == 4 * config_.active) keep_strongest();
  }
  keep_strongest();
  std::ranges::sort(found, stronger);
  return found;
}

std::vector<std::vector<ActiveFeature>> Dictionary::active(const ConstView& x,
                                                           Session& session) const {
  constexpr std::size_t block = 128;  // rows whose pre-activations are in memory at once
  std::vector<std::vector<ActiveFeature>> rows;
  AlignedBuffer pre(std::min(block, x.shape(0)) * config_.features);
  for (std::size_t first = 0; first < x.shape(0); first += block) {
    const std::size_t count = std::min(block, x.shape(0) - first);
    read(const_view(x.data() + first * config_.d_model, {count, config_.d_model}),
         view(pre.data(), {count, config_.features}), session);
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back(active(std::span(pre).subspan(i * config_.features, config_.features)));
    }
  }
  return rows;
}

void Dictionary::write(std::span<const ActiveFeature> features, std::span<float> y) const {
  std::copy_n(bias_.value.begin(), config_.d_model, y.begin());
  for (const ActiveFeature& each : features) {
    kernels().add_scaled(y.data(), direction(each.feature).data(), config_.d_model,
                         each.activation);
  }
}

std::string feed_forward_input(const StackConfig& stack, const std::string& stack_name,
                               std::size_t layer, bool attends) {
  const std::string prefix = stack_name + ".layers." + std::to_string(layer) + ".";
  if (stack.layers[layer].norm == NormPlacement::pre) return prefix + "final_layer_norm";
  return prefix + (attends ? "encoder_attn_layer_norm" : "self_attn_layer_norm");
}

DictionarySet::DictionarySet(const std::vector<DictionaryConfig>& configs) {
  for (const DictionaryConfig& config : configs) {
    dictionaries_.push_back(std::make_unique<Dictionary>(config));
  }
}

std::vector<NamedParameter> DictionarySet::parameters() {
  std::vector<NamedParameter> all;
  for (const auto& dictionary : dictionaries_) {
    for (NamedParameter& parameter : dictionary->parameters()) all.push_back(std::move(parameter));
  }
  return all;
}

}  // namespace glassformer
