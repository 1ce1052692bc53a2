#include "explain/readings/relevance.hpp"

#include <algorithm>

namespace glassformer {
namespace {

// Ā of a layer, [T, T].
std::vector<float> positive_mean(const AttentionMap& weights, const AttentionMap& gradients,
                                 std::size_t layer) {
  std::vector<float> mean(weights.queries * weights.keys);
  for (std::size_t head = 0; head < weights.heads; ++head) {
    const std::span<const float> a = weights.at(layer, head), g = gradients.at(layer, head);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += std::max(0.0f, a[i] * g[i]) / static_cast<float>(weights.heads);
    }
  }
  return mean;
}

}  // namespace

std::vector<float> relevance(const AttentionMap& weights, const AttentionMap& gradients) {
  const std::size_t tokens = weights.queries;
  std::vector<float> more(tokens * tokens), next(tokens * tokens);  // R - I
  for (std::size_t layer = 0; layer < weights.layers; ++layer) {
    const std::vector<float> mean = positive_mean(weights, gradients, layer);
    next = more;
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t j = 0; j < tokens; ++j) {
        const float share = mean[i * tokens + j];
        if (share == 0.0f) continue;
        next[i * tokens + j] += share;  // of I
        for (std::size_t c = 0; c < tokens; ++c) {
          next[i * tokens + c] += share * more[j * tokens + c];
        }
      }
    }
    more.swap(next);
  }
  return more;
}

}  // namespace glassformer
