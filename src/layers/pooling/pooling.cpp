#include "layers/pooling/pooling.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace glassformer {

void SequencePooling::operator()(const ConstView& x, const Sequences& sequences, View pooled,
                                 const Run& run) const {
  const std::size_t d_model = x.shape(1);
  expect_shape("x of a pooling", x, {sequences.tokens(), d_model});
  expect_shape("result of a pooling", pooled, {sequences.size(), d_model});
  std::vector<float> weights(sequences.longest());
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    weigh(sequences, s, std::span(weights).first(sequences.length(s)));
    float* sum = pooled.data() + s * d_model;
    std::fill_n(sum, d_model, 0.0f);
    for (std::size_t i = 0; i < sequences.length(s); ++i) {
      kernels().add_scaled(sum, x.data() + (sequences.start(s) + i) * d_model, d_model, weights[i]);
    }
  }
  if (!run.tape()) return;
  run.tape()->record([this, x, &sequences, pooled](Tape& tape) {
    pooling_backward(*this, x, sequences, const_view(pooled), tape);
  });
}

void MeanPooling::weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const {
  auto visible = sequences.visible(i);
  const auto before = std::ranges::lower_bound(visible, first_) - visible.begin();
  if (static_cast<std::size_t>(before) < visible.size()) {
    visible = visible.subspan(static_cast<std::size_t>(before));
  }
  std::fill(weights.begin(), weights.end(), 0.0f);
  for (std::size_t position : visible)
    weights[position] = 1.0f / static_cast<float>(visible.size());
}

void OneTokenPooling::weigh(const Sequences&, std::size_t, std::span<float> weights) const {
  std::fill(weights.begin(), weights.end(), 0.0f);
  weights[std::min(number_, weights.size() - 1)] = 1.0f;
}

void FirstTwoPooling::weigh(const Sequences&, std::size_t, std::span<float> weights) const {
  std::fill(weights.begin(), weights.end(), 0.0f);
  weights[0] += 0.5f;
  weights[weights.size() > 1 ? 1 : 0] += 0.5f;
}

std::unique_ptr<SequencePooling> make_pooling(Pooling pooling) {
  switch (pooling) {
    case Pooling::mean:
      return std::make_unique<MeanPooling>(0);
    case Pooling::first:
      return std::make_unique<OneTokenPooling>(0);
    case Pooling::patches:
      return std::make_unique<MeanPooling>(1);
    case Pooling::last:
      return std::make_unique<OneTokenPooling>(OneTokenPooling::last);
  }
  return nullptr;
}

}  // namespace glassformer
