#include "explain/interventions/integrated_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/traced.hpp"

namespace glassformer {
namespace {

constexpr std::size_t first_steps = 64, most_steps = 256;
constexpr double largest_gap = 0.02;  // as a share of the difference of the answers

}  // namespace

IntegratedGradientsSum::IntegratedGradientsSum(const EncoderRunner& model, ExplainedText text,
                                               std::vector<std::size_t> scaled, Contrast contrast)
    : model_(model),
      text_(std::move(text)),
      scaled_(std::move(scaled)),
      contrast_(std::move(contrast)) {
  TracedTensor rows = std::move(trace(model_, text_, {embeddings_name(model_)})[0]);
  width_ = rows.shape[1];
  embeddings_ = std::move(rows.data);
  full_ = gradients_at(1).answer;
  empty_ = gradients_at(0).answer;
  begin(first_steps);
}

void IntegratedGradientsSum::begin(std::size_t steps) {
  steps_ = steps;
  next_ = 0;
  sums_.assign(text_.tokens(), 0.0);
}

std::vector<float> IntegratedGradientsSum::embeddings_at(float share) const {
  std::vector<float> rows = embeddings_;
  for (const std::size_t token : scaled_) {
    for (std::size_t c = token * width_; c < (token + 1) * width_; ++c) rows[c] *= share;
  }
  return rows;
}

Gradients IntegratedGradientsSum::gradients_at(float share) const {
  std::vector<float> rows = embeddings_at(share);
  const std::vector<std::size_t> shape = {text_.tokens(), width_};
  const char* const name = embeddings_name(model_);
  return encoder_gradients(model_, text_, contrast_, {name},
                           {{.name = name, .shape = shape, .value = std::move(rows)}});
}

bool IntegratedGradientsSum::step() {
  const float middle = (static_cast<float>(next_) + 0.5f) / static_cast<float>(steps_);
  const Gradients gradients = gradients_at(middle);
  const TracedTensor& gradient = gradients.tensors[0];
  for (const std::size_t token : scaled_) {
    const std::size_t at = token * width_;
    sums_[token] += dot(&embeddings_[at], &gradient.data[at], width_);
  }
  if (++next_ < steps_) return true;
  const double sum = std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(steps_);
  const double gap = std::abs(full_ - empty_ - sum);
  if (gap <= largest_gap * std::abs(full_ - empty_) || 2 * steps_ > most_steps) return false;
  begin(2 * steps_);
  return true;
}

IntegratedGradients IntegratedGradientsSum::take() {
  IntegratedGradients result = {
      .value = static_cast<float>(full_), .baseline = static_cast<float>(empty_), .steps = steps_};
  double sum = 0;
  for (const double total : sums_) {
    const double score = total / static_cast<double>(steps_);
    result.scores.push_back(static_cast<float>(score));
    sum += score;
  }
  result.gap = static_cast<float>(full_ - empty_ - sum);
  return result;
}

}  // namespace glassformer
