#include "layers/pooling.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace glassformer {

void SequencePooling::operator()(const ConstView<2>& x, const Batch& batch, View<2> pooled) const {
  const std::size_t d_model = x.shape(1);
  expect_shape("x of a pooling", x, {batch.tokens(), d_model});
  expect_shape("result of a pooling", pooled, {batch.size(), d_model});
  std::vector<float> weights(batch.longest());
  for (std::size_t s = 0; s < batch.size(); ++s) {
    weigh(batch, s, std::span(weights).first(batch.length(s)));
    float* sum = pooled.data() + s * d_model;
    std::fill_n(sum, d_model, 0.0f);
    for (std::size_t i = 0; i < batch.length(s); ++i) {
      kernels().add_scaled(sum, x.data() + (batch.start(s) + i) * d_model, d_model, weights[i]);
    }
  }
}

void MeanPooling::weigh(const Batch& batch, std::size_t i, std::span<float> weights) const {
  const auto visible = batch.visible(i);
  std::fill(weights.begin(), weights.end(), 0.0f);
  for (std::size_t position : visible)
    weights[position] = 1.0f / static_cast<float>(visible.size());
}

void FirstTokenPooling::weigh(const Batch&, std::size_t, std::span<float> weights) const {
  std::fill(weights.begin(), weights.end(), 0.0f);
  weights[0] = 1.0f;
}

}  // namespace glassformer
