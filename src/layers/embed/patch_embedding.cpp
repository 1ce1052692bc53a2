#include "layers/embed/patch_embedding.hpp"

#include <algorithm>

namespace glassformer {

PatchEmbedding::PatchEmbedding(const PatchInput& input, std::size_t d_model, Compute compute)
    : input_(input), projection_(input.patch_values(), d_model, compute) {}

void PatchEmbedding::declare(const ParameterScope& scope) {
  projection_.declare_weight(scope);
  scope.store_last_as(
      {projection_.out(), input_.channels, input_.patch_height, input_.patch_width});
  if (input_.bias) projection_.declare_bias(scope);
}

void PatchEmbedding::operator()(std::span<const float> pixels, std::size_t width, View x,
                                const Run& run) const {
  const std::size_t down = input_.patch_height, across = input_.patch_width;
  const std::size_t columns = width / across;
  const std::size_t height = pixels.size() / (input_.channels * width);
  const Arena::Scope memory(run.arena());
  View patches = run.make(x.shape(0), projection_.in());  // [P, channels · height · width]
  for (std::size_t row = 0; row < patches.shape(0); ++row) {
    const std::size_t top = row / columns * down, left = row % columns * across;
    float* to = &patches(row, 0);
    for (std::size_t channel = 0; channel < input_.channels; ++channel) {
      for (std::size_t y = top; y < top + down; ++y) {
        to = std::copy_n(&pixels[(channel * height + y) * width + left], across, to);
      }
    }
  }
  projection_(const_view(patches), x, run);
}

}  // namespace glassformer
