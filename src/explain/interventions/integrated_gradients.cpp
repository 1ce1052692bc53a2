#include "explain/interventions/integrated_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/traced.hpp"

namespace glassformer {
namespace {

constexpr std::size_t first_steps = 64, most_steps = 256;
constexpr double largest_gap = 0.02;  // as a share of the difference of the answers

// Returns the embeddings at this share of the way.
Patch patch_at(const EmbeddingsWay& way, float share) {
  Patch patch = {.name = way.rows.name, .shape = way.rows.shape, .value = way.rows.data};
  const std::size_t width = way.rows.shape[1];
  for (const std::size_t token : way.moved) {
    for (std::size_t c = token * width; c < (token + 1) * width; ++c) {
      const float start = way.start.empty() ? 0.0f : way.start[c];
      patch.value[c] = start + share * (patch.value[c] - start);
    }
  }
  return patch;
}

class OfText final : public IntegratedGradientsSum::Subject {
 public:
  OfText(const EncoderRunner& model, ExplainedText text, Contrast contrast)
      : model_(model), text_(std::move(text)), contrast_(std::move(contrast)) {}

  Gradients gradients(const std::vector<std::string>& names,
                      std::vector<Patch> embeddings) const override {
    return encoder_gradients(model_, text_, contrast_, names, std::move(embeddings));
  }

 private:
  EncoderRunner model_;
  ExplainedText text_;
  Contrast contrast_;
};

class OfNextToken final : public IntegratedGradientsSum::Subject {
 public:
  OfNextToken(const WriterRunner& model, const DecodedText& text, Contrast contrast)
      : model_(model), text_(text), contrast_(std::move(contrast)) {}

  Gradients gradients(const std::vector<std::string>& names,
                      std::vector<Patch> embeddings) const override {
    return next_token_gradients(model_, text_, contrast_, names, embeddings);
  }

 private:
  WriterRunner model_;
  DecodedText text_;
  Contrast contrast_;
};

}  // namespace

IntegratedGradientsSum::IntegratedGradientsSum(std::vector<EmbeddingsWay> ways,
                                               std::unique_ptr<const Subject> subject)
    : ways_(std::move(ways)), subject_(std::move(subject)) {
  for (const EmbeddingsWay& way : ways_) names_.push_back(way.rows.name);
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
  std::vector<Patch> embeddings;
  for (const EmbeddingsWay& way : ways_) embeddings.push_back(patch_at(way, share));
  return subject_->gradients(names_, std::move(embeddings));
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
  const std::vector<std::string> names = embeddings_names(model.model);
  const std::vector<TracedTensor> embeddings = trace(model, text, names);
  std::vector<EmbeddingsWay> ways;
  for (const std::string& name : names) {
    ways.push_back({.rows = find_traced(embeddings, name), .moved = moved});
  }
  if (ways.size() > 1) {  // a decoder's row t reads token t - 1
    for (std::size_t& token : ways[0].moved) ++token;
  }
  return {std::move(ways), std::make_unique<OfText>(model, std::move(text), std::move(contrast))};
}

IntegratedGradientsSum integrate_gradients(const WriterRunner& model, const DecodedText& text,
                                           MovedTokens moved, Contrast contrast) {
  std::vector<EmbeddingsWay> ways(text.source ? 2 : 1);
  std::size_t stack = 0;
  for (TracedTensor& rows : next_token_embeddings(model, text))
    ways[stack++].rows = std::move(rows);
  ways[0].moved = std::move(moved.decoder);
  if (text.source) ways[1].moved = std::move(moved.encoder);
  if (moved.baseline) {
    // A text of this token only.
    const auto repeated = [&](std::size_t tokens) {
      return std::vector<std::int32_t>(tokens, *moved.baseline);
    };
    Seq2Seq::Encoded source;
    if (text.source) {
      source.sources.add(repeated(text.source->sources.tokens()));
      source.states = copy_of(const_view(text.source->states));
    }
    const std::vector<std::int32_t> decoded = repeated(text.ids.size());
    stack = 0;
    for (TracedTensor& rows :
         next_token_embeddings(model, {decoded, text.source ? &source : nullptr})) {
      ways[stack++].start = std::move(rows.data);
    }
  }
  return {std::move(ways), std::make_unique<OfNextToken>(model, text, std::move(contrast))};
}

}  // namespace glassformer
