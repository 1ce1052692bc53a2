#include "layers/attention/frozen_projection.hpp"

namespace glassformer {

FrozenProjection::Input FrozenProjection::lead_back(std::span<const float> gradient,
                                                    const float* input, std::size_t position,
                                                    Session& session) const {
  const std::size_t d_head = bias.size(), width = weights.size() / d_head;
  std::vector<float> of_product(gradient.begin(), gradient.end());
  if (rotary) rotary->turn_back(of_product, position, session);
  Input result;
  if (norm) {
    std::vector<float> plain = bias;  // before the norm
    for (std::size_t e = 0; e < d_head; ++e) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) {
        sum += static_cast<double>(weights[e * width + c]) * static_cast<double>(input[c]);
      }
      plain[e] += static_cast<float>(sum);
    }
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

}  // namespace glassformer
