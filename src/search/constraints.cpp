#include "search/constraints.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

void forbid(std::span<const std::int32_t> ids, const TokenRules& rules, std::span<float> scores) {
  const auto forbid_one = [&](std::int32_t id) {
    if (static_cast<std::size_t>(id) < scores.size()) {
      scores[static_cast<std::size_t>(id)] = minus_infinity;
    }
  };
  if (const std::size_t n = rules.no_repeat_ngram; n > 0 && n <= ids.size()) {
    const auto last = ids.first(n - 1);
    for (std::size_t i = 0; i + n <= ids.size(); ++i) {
      if (std::ranges::equal(ids.subspan(i + 1, n - 1), last)) forbid_one(ids[i]);
    }
  }
  if (ids.size() < rules.min_length) std::ranges::for_each(rules.ends, forbid_one);
  if (ids.size() == rules.begin) std::ranges::for_each(rules.not_first, forbid_one);
  for (const std::vector<std::int32_t>& word : rules.never) {
    // As in the transformers library, a word of several tokens needs a text of at least as many.
    if (word.size() > 1 && word.size() > ids.size()) continue;
    if (std::equal(word.rbegin() + 1, word.rend(), ids.begin())) forbid_one(word.back());
  }
  if (rules.second && ids.size() == 1) {
    std::ranges::fill(scores, minus_infinity);
    scores[static_cast<std::size_t>(*rules.second)] = 0.0f;
  }
}

void penalize(std::span<const float> logits, const Repetition& repeated, std::span<float> scores) {
  for (const std::int32_t id : repeated.ids) {
    if (static_cast<std::size_t>(id) >= scores.size()) continue;
    const float logit = logits[static_cast<std::size_t>(id)];
    scores[static_cast<std::size_t>(id)] =
        logit < 0 ? logit * repeated.penalty : logit / repeated.penalty;
  }
}

ConstrainedScorer::ConstrainedScorer(DecodingScorer& decoding, const Constraints& constraints,
                                     ScoreKind kind, std::size_t rows, std::size_t tokens)
    : decoding_(decoding),
      constraints_(constraints),
      kind_(kind),
      tokens_(std::min(tokens, decoding.vocab_size())),
      scores_(constraints.empty() ? 0 : checked_product("scores", {rows, decoding.vocab_size()})) {
  ids_.reserve(decoding.state().limits().positions);
  next_.reserve(rows);
}

std::span<const NextTokens> ConstrainedScorer::feed(std::span<const Extension> extensions) {
  const std::span<const NextTokens> all = decoding_.feed(extensions);
  if (kind_ == ScoreKind::logprobs && constraints_.empty()) return all;
  next_.clear();
  const HypothesisTree& tree = decoding_.state().tree();
  for (std::size_t row = 0; row < all.size(); ++row) {
    const auto& node = tree[static_cast<NodeIndex>(tree.size() - all.size() + row)];
    const bool given = node.source < forced_.size() && node.depth < forced_[node.source];
    next_.push_back(given ? all[row] : constrained(all[row], row, all.size()));
  }
  return next_;
}

// Returns the scores of row `row` of the last step, which has `rows` rows.
NextTokens ConstrainedScorer::constrained(const NextTokens& next, std::size_t row,
                                          std::size_t rows) {
  std::span<const float> logits = next.logits;
  if (!next.ids.empty()) {
    const std::size_t width = decoding_.vocab_size();
    all_.resize(std::max(all_.size(), decoding_.state().limits().rows * width));
    const std::span<float> whole = std::span(all_).subspan(row * width, width);
    std::ranges::fill(whole, minus_infinity);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      whole[static_cast<std::size_t>(next.ids[i])] = logits[i];
    }
    logits = whole;
  }
  const float normalizer = writing_kernels().log_sum_exp(logits.data(), logits.size());
  if (constraints_.empty()) return {logits.first(tokens_), {}, normalizer, logits};

  const HypothesisTree& tree = decoding_.state().tree();
  ids_.clear();
  for (auto node = static_cast<NodeIndex>(tree.size() - rows + row); node != no_parent;) {
    ids_.push_back(tree[node].id);
    node = tree[node].parent;
  }
  std::span<const float> changed = logits;
  if (kind_ == ScoreKind::logprobs) {
    logprobs_.resize(logits.size());
    std::ranges::transform(logits, logprobs_.begin(), [&](float x) { return x - normalizer; });
    changed = logprobs_;
  }
  const std::span<float> scores = std::span(scores_).subspan(row * logits.size(), logits.size());
  std::ranges::copy(changed, scores.begin());
  const std::size_t source = tree[static_cast<NodeIndex>(tree.size() - rows + row)].source;
  if (source < given_.size()) {
    penalize(changed, {given_[source], 1 / constraints_.encoder_repetition_penalty}, scores);
    kept_.assign(scores.begin(), scores.end());
    changed = kept_;
  }
  penalize(changed, {ids_, constraints_.repetition_penalty}, scores);
  forbid(ids_, constraints_.rules, scores);
  if (kind_ == ScoreKind::logits) return {scores.first(tokens_), {}, normalizer, logits};
  return {scores, {}, std::isfinite(normalizer) ? 0.0f : normalizer};
}

}  // namespace glassformer
