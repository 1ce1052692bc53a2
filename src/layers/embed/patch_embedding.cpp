#include "layers/embed/patch_embedding.hpp"

#include <algorithm>

namespace glassformer {

PatchEmbedding::PatchEmbedding(const PatchInput& input, std::size_t d_model, Compute compute)
    : input_(input), projection_(input.channels * input.patch * input.patch, d_model, compute) {}

void PatchEmbedding::operator()(std::span<const float> pixels, View x, const Run& run) const {
  const auto& [height, width, channels, patch, class_token] = input_;
  const std::size_t across = width / patch;
  const Arena::Scope memory(run.arena());
  View patches = run.make(x.shape(0), projection_.in());  // [P, channels · patch · patch]
  for (std::size_t row = 0; row < patches.shape(0); ++row) {
    const std::size_t top = row / across * patch, left = row % across * patch;
    float* to = &patches(row, 0);
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t y = top; y < top + patch; ++y) {
        to = std::copy_n(&pixels[(channel * height + y) * width + left], patch, to);
      }
    }
  }
  projection_(const_view(patches), x, run);
}

}  // namespace glassformer
