#include "explain/interventions/integrated_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/traced.hpp"

namespace glassformer {
namespace {

constexpr std::size_t first_steps = 64, most_steps = 256;
constexpr double largest_gap = 0.02;  // as a share of the difference of the answers

// Moves the rows of these tokens: from `share` of the way to their values.
void move_back(const EmbeddingsWay& way, float share, TracedTensor& rows) {
  const std::size_t width = rows.shape[1];
  for (const std::size_t token : way.moved) {
    for (std::size_t c = token * width; c < (token + 1) * width; ++c) {
      const float start = way.start.empty() ? 0.0f : way.start[c];
      rows.data[c] = start + share * (rows.data[c] - start);
    }
  }
}

}  // namespace

IntegratedGradientsSum::IntegratedGradientsSum(std::vector<EmbeddingsWay> ways,
                                               GradientsAt gradients_at)
    : ways_(std::move(ways)), gradients_at_(std::move(gradients_at)) {
  full_ = gradients_with(1).answer;
  empty_ = gradients_with(0).answer;
  begin(first_steps);
}

void IntegratedGradientsSum::begin(std::size_t steps) {
  steps_ = steps;
  next_ = 0;
  std::size_t tokens = 0;
  for (const EmbeddingsWay& way : ways_) tokens += way.rows.shape[0];
  sums_.assign(tokens, 0.0);
}

Gradients IntegratedGradientsSum::gradients_with(float share) const {
  std::vector<TracedTensor> tensors;
  for (const EmbeddingsWay& way : ways_) move_back(way, share, tensors.emplace_back(way.rows));
  return gradients_at_(tensors);
}

bool IntegratedGradientsSum::step() {
  const float middle = (static_cast<float>(next_) + 0.5f) / static_cast<float>(steps_);
  const Gradients gradients = gradients_with(middle);
  std::size_t first = 0;  // of the stack's tokens
  for (const auto& [rows, moved, start] : ways_) {
    const std::vector<float>& gradient = find_traced(gradients.tensors, rows.name).data;
    const std::size_t width = rows.shape[1];
    for (const std::size_t token : moved) {
      const std::size_t at = token * width;
      double& sum = sums_[first + token];
      sum += dot(&rows.data[at], &gradient[at], width);
      if (!start.empty()) sum -= dot(&start[at], &gradient[at], width);
    }
    first += rows.shape[0];
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

IntegratedGradientsSum integrate_gradients(const EncoderRunner& model, ExplainedText text,
                                           std::vector<std::size_t> moved, Contrast contrast) {
  TracedTensor rows = std::move(trace(model, text, {"encoder.embed_tokens"})[0]);
  const auto gradients_at = [model, text = std::move(text), contrast = std::move(contrast)](
                                std::span<const TracedTensor> embeddings) {
    const TracedTensor& at = embeddings[0];
    return encoder_gradients(model, text, contrast, {at.name},
                             {{.name = at.name, .shape = at.shape, .value = at.data}});
  };
  return {{{std::move(rows), std::move(moved)}}, gradients_at};
}

IntegratedGradientsSum integrate_gradients(const WriterRunner& model, const DecodedText& text,
                                           MovedTokens moved, Contrast contrast) {
  std::vector<EmbeddingsWay> ways;
  for (TracedTensor& rows : next_token_embeddings(model, text)) {
    ways.push_back({std::move(rows), std::move(ways.empty() ? moved.decoder : moved.encoder)});
  }
  if (moved.baseline) {
    const std::vector<std::int32_t> decoded(text.ids.size(), *moved.baseline);
    const std::size_t sources = text.source ? text.source->sources.tokens() : 0;
    const std::vector<std::int32_t> read(sources, *moved.baseline);
    Seq2Seq::Encoded source;
    source.sources.add(read);
    if (text.source) source.states = copy_of(const_view(text.source->states));
    std::size_t stack = 0;
    for (TracedTensor& rows :
         next_token_embeddings(model, {decoded, text.source ? &source : nullptr})) {
      ways[stack++].start = std::move(rows.data);
    }
  }
  const auto gradients_at =
      [model, text, contrast = std::move(contrast)](std::span<const TracedTensor> tensors) {
        std::vector<Patch> patches;
        std::vector<std::string> names;
        for (const TracedTensor& at : tensors) {
          names.push_back(at.name);
          patches.push_back({.name = at.name, .shape = at.shape, .value = at.data});
        }
        return next_token_gradients(model, text, contrast, names, patches);
      };
  return {std::move(ways), gradients_at};
}

}  // namespace glassformer
