#include "tasks/embed/vectors.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

void add_sum(const ConstView& states, std::span<const std::size_t> tokens, float weight,
             float* sum) {
  for (const std::size_t token : tokens) {
    kernels().add_scaled(sum, &states(token, 0), states.shape(1), weight);
  }
}

void find_largest(const ConstView& states, std::span<const std::size_t> tokens, float* largest) {
  std::copy_n(&states(tokens[0], 0), states.shape(1), largest);
  for (const std::size_t token : tokens) {
    for (std::size_t i = 0; i < states.shape(1); ++i) {
      largest[i] = std::max(largest[i], states(token, i));
    }
  }
}

}  // namespace

std::vector<float> pool(const ConstView& states, std::span<const std::size_t> tokens,
                        std::span<const TokenPooling> poolings, std::size_t first) {
  const std::size_t d_model = states.shape(1);
  const auto n = static_cast<float>(tokens.size());
  std::vector<float> pooled(poolings.size() * d_model, 0.0f);
  float* part = pooled.data();
  for (const TokenPooling pooling : poolings) {
    switch (pooling) {
      case TokenPooling::cls:
        std::copy_n(&states(first, 0), d_model, part);
        break;
      case TokenPooling::max:
        find_largest(states, tokens, part);
        break;
      case TokenPooling::mean:
        add_sum(states, tokens, 1.0f / n, part);
        break;
      case TokenPooling::mean_sqrt_len:
        add_sum(states, tokens, 1.0f / std::sqrt(n), part);
        break;
      case TokenPooling::weighted_mean: {
        float sum = 0;
        for (const std::size_t token : tokens) sum += static_cast<float>(token + 1);
        for (const std::size_t token : tokens) {
          add_sum(states, {&token, 1}, static_cast<float>(token + 1) / sum, part);
        }
        break;
      }
      case TokenPooling::last_token:
        std::copy_n(&states(tokens.back(), 0), d_model, part);
        break;
    }
    part += d_model;
  }
  return pooled;
}

}  // namespace glassformer
