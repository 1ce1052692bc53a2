#include "layers/attention/frozen_projection.hpp"

#include <algorithm>

#include "kernels/learning.hpp"

namespace glassformer {

FrozenProjection::Input FrozenProjection::lead_back(std::span<const float> gradient,
                                                    const float* input, std::size_t position,
                                                    Session& session) const {
  const std::size_t d_head = bias.size(), width = weights.size() / d_head;
  std::vector<float> of_product(gradient.begin(), gradient.end());
  if (rotary) rotary->turn_back(of_product, position, session);
  Input result;
  if (norm) {
    std::vector<float> plain(d_head);  // before the norm
    multiply(input, plain);
    for (std::size_t e = 0; norm->bias() && e < d_head; ++e) {
      result.biases += static_cast<double>(of_product[e]) * static_cast<double>(norm->bias()[e]);
    }
    frozen_norm_backward(*norm, plain.data(), of_product);
  }
  std::vector<double> sums(width);
  for (std::size_t e = 0; e < d_head; ++e) {
    const auto factor = static_cast<double>(of_product[e]);
    result.biases += factor * static_cast<double>(bias[e]);
    const float* const row = weights.data() + e * width;
    for (std::size_t c = 0; c < width; ++c) sums[c] += factor * static_cast<double>(row[c]);
  }
  result.gradient.assign(sums.begin(), sums.end());
  return result;
}

void FrozenProjection::lead_back_exactly(std::span<const float> gradient, const float* input,
                                         std::size_t position, Session& session,
                                         std::span<float> to) const {
  const std::size_t d_head = bias.size(), width = weights.size() / d_head;
  std::vector<float> of_product(gradient.begin(), gradient.end());
  if (rotary) rotary->turn_back(of_product, position, session);
  if (norm) {
    std::vector<float> plain(d_head);
    multiply(input, plain);
    norm_gradient(*norm, plain.data(), 1, of_product.data());
  }
  std::ranges::fill(to, 0.0f);
  for (std::size_t e = 0; e < d_head; ++e) {
    kernels().add_scaled(to.data(), weights.data() + e * width, width, of_product[e]);
  }
}

void FrozenProjection::project(const float* input, std::size_t position, Session& session,
                               std::span<float> to) const {
  const std::size_t width = weights.size() / to.size();
  for (std::size_t e = 0; e < to.size(); ++e) {
    to[e] = bias[e] + learning_kernels().dot(weights.data() + e * width, input, width);
  }
  if (norm) (*norm)(const_view(to.data(), {1, to.size()}), view(to.data(), {1, to.size()}));
  if (rotary) rotary->turn(to, position, session);
}

void FrozenProjection::multiply(const float* input, std::span<float> to) const {
  const std::size_t width = weights.size() / bias.size();
  for (std::size_t e = 0; e < bias.size(); ++e) {
    double sum = static_cast<double>(bias[e]);
    for (std::size_t c = 0; c < width; ++c) {
      sum += static_cast<double>(weights[e * width + c]) * static_cast<double>(input[c]);
    }
    to[e] = static_cast<float>(sum);
  }
}

}  // namespace glassformer
