#include "layers/attention/relative_bias.hpp"

namespace glassformer {

void RelativeBias::backward(std::size_t head, std::span<const float> by_distance,
                            Tape& tape) const {
  float* const of_weight = tape.gradient(weight_);
  if (!of_weight) return;
  const auto nearest = static_cast<std::ptrdiff_t>(by_distance.size() / 2);
  for (std::size_t i = 0; i < by_distance.size(); ++i) {
    const std::ptrdiff_t behind = static_cast<std::ptrdiff_t>(i) - nearest;
    of_weight[bucket(shape_, behind) * shape_.n_heads + head] += by_distance[i];
  }
}

}  // namespace glassformer
