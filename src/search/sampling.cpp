#include "search/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

void forbid(std::span<const std::int32_t> ids, const TokenRules& rules, std::span<float> scores) {
  const auto forbid_one = [&](std::int32_t id) {
    if (static_cast<std::size_t>(id) < scores.size()) {
      scores[static_cast<std::size_t>(id)] = -infinity;
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
}

void penalize(std::span<const float> logits, const Repetition& repeated, std::span<float> scores) {
  std::ranges::copy(logits, scores.begin());
  for (const std::int32_t id : repeated.ids) {
    const float logit = logits[static_cast<std::size_t>(id)];
    scores[static_cast<std::size_t>(id)] =
        logit < 0 ? logit * repeated.penalty : logit / repeated.penalty;
  }
}

TokenChances::TokenChances(std::size_t vocab_size) : logits_(vocab_size), weights_(vocab_size) {
  heap_.reserve(vocab_size);
  kept_.reserve(vocab_size);
}

namespace {

// The order of a heap with the best token on top.
struct Worse {
  std::span<const float> logits;

  bool operator()(std::int32_t a, std::int32_t b) const {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x != y ? x < y : a > b;
  }
};

}  // namespace

// Appends the best remaining token to kept_ and returns it.
std::int32_t TokenChances::pop() {
  std::ranges::pop_heap(heap_, Worse{logits_});
  kept_.push_back(heap_.back());
  heap_.pop_back();
  return kept_.back();
}

void TokenChances::weigh(std::span<const float> logits, const SamplingOptions& options) {
  std::ranges::copy(logits, logits_.begin());
  std::ranges::copy(logits, weights_.begin());
  kernels().exponentials(weights_.data(), weights_.size(), 1.0f / options.temperature);
  heap_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != -infinity) heap_.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::make_heap(heap_, Worse{logits_});
  kept_.clear();
  next_ = 0;
  count_ = heap_.size();
  const auto weight = [&](std::int32_t id) {
    return static_cast<double>(weights_[static_cast<std::size_t>(id)]);
  };
  const auto logit = [&](std::int32_t id) { return logits_[static_cast<std::size_t>(id)]; };
  const auto sum = [&](std::span<const std::int32_t> ids) {
    double total = 0;
    for (const std::int32_t id : ids) total += weight(id);
    return total;
  };
  if (options.top_k > 0 && options.top_k < count_) {
    while (kept_.size() < options.top_k) pop();
    while (!heap_.empty() && logit(heap_.front()) == logit(kept_.back())) pop();
    count_ = kept_.size();
  }
  total_ = kept_.empty() ? sum(heap_) : sum(kept_);
  if (options.top_p >= 1) return;
  const double enough = static_cast<double>(options.top_p) * total_;
  double before = 0;
  std::size_t few = 0;
  while (few < count_ && (few == 0 || before < enough)) {
    before += weight(few < kept_.size() ? kept_[few] : pop());
    ++few;
  }
  count_ = few;
  total_ = before;
}

std::optional<TokenChance> TokenChances::next() {
  if (next_ == count_) return std::nullopt;
  const std::int32_t id = next_ < kept_.size() ? kept_[next_] : pop();
  ++next_;
  return TokenChance{id, static_cast<double>(weights_[static_cast<std::size_t>(id)]) / total_};
}

std::int32_t TokenChances::draw(SplitMix64& random) {
  const double u = static_cast<double>(random.next() >> 11) * 0x1p-53;
  double sum = 0;
  std::int32_t id = 0;
  for (auto chance = next(); chance; chance = next()) {
    id = chance->id;
    sum += chance->probability;
    if (sum > u) break;
  }
  return id;
}

ChoosingScorer::ChoosingScorer(DecodingScorer& decoding, const TokenChoice& choice,
                               std::size_t rows, std::size_t tokens)
    : decoding_(decoding),
      choice_(choice),
      tokens_(std::min(tokens, decoding.vocab_size())),
      random_(choice.seed),
      chances_(tokens_),
      scores_(choice.changes_scores() ? checked_product("scores", {rows, decoding.vocab_size()})
                                      : 0),
      chosen_(rows),
      chosen_logits_(rows) {
  ids_.reserve(decoding.state().limits().positions);
  next_.reserve(rows);
}

std::span<const float> ChoosingScorer::scores_of(std::span<const float> logits, std::size_t row,
                                                 std::size_t rows) {
  const bool searches = choice_.kind == TokenChoice::Kind::search;
  const std::size_t tokens = searches ? logits.size() : tokens_;
  if (!choice_.changes_scores()) return logits.first(tokens);
  const HypothesisTree& tree = decoding_.state().tree();
  ids_.clear();
  for (auto node = static_cast<NodeIndex>(tree.size() - rows + row); node != no_parent;) {
    ids_.push_back(tree[node].id);
    node = tree[node].parent;
  }
  if (searches) {
    logprobs_.resize(logits.size());
    std::ranges::transform(logits, logprobs_.begin(), [&](float x) { return x - normalizer_; });
    logits = logprobs_;
  }
  const std::span<float> scores = std::span(scores_).subspan(row * logits.size(), logits.size());
  penalize(logits, {ids_, choice_.repetition_penalty}, scores);
  forbid(ids_, choice_.rules, scores);
  return scores.first(tokens);
}

std::span<const NextTokens> ChoosingScorer::feed(std::span<const Extension> extensions) {
  using enum TokenChoice::Kind;
  const std::span<const NextTokens> all = decoding_.feed(extensions);
  if (choice_.kind == search && !choice_.changes_scores()) return all;
  next_.clear();
  const HypothesisTree& tree = decoding_.state().tree();
  for (std::size_t row = 0; row < all.size(); ++row) {
    const auto& node = tree[static_cast<NodeIndex>(tree.size() - all.size() + row)];
    if (node.source < forced_.size() && node.depth < forced_[node.source]) {
      next_.push_back(all[row]);
      continue;
    }
    logits_ = all[row].logits;
    if (!all[row].ids.empty()) {
      all_.assign(decoding_.vocab_size(), -infinity);
      for (std::size_t i = 0; i < logits_.size(); ++i) {
        all_[static_cast<std::size_t>(all[row].ids[i])] = logits_[i];
      }
      logits_ = all_;
    }
    normalizer_ = writing_kernels().log_sum_exp(logits_.data(), logits_.size());
    const std::span<const float> scores = scores_of(logits_, row, all.size());
    if (choice_.kind == search) {
      next_.push_back({scores, {}, std::isfinite(normalizer_) ? 0.0f : normalizer_});
      continue;
    }
    const auto best = std::ranges::max_element(scores);
    if (*best == -infinity) {
      next_.push_back({{}, {}, normalizer_});
      continue;
    }
    std::int32_t& chosen = chosen_[row];
    if (choice_.kind == most_probable || !std::isfinite(normalizer_)) {
      chosen = static_cast<std::int32_t>(best - scores.begin());
    } else {
      chances_.weigh(scores, choice_.sampling);
      chosen = chances_.draw(random_);
    }
    chosen_logits_[row] = logits_[static_cast<std::size_t>(chosen)];
    next_.push_back({{&chosen_logits_[row], 1}, {&chosen, 1}, normalizer_});
  }
  return next_;
}

TokenChances& ChoosingScorer::chances(const Extension& extension) {
  const std::span<const NextTokens> all = decoding_.feed({&extension, 1});
  logits_ = all[0].logits;
  normalizer_ = writing_kernels().log_sum_exp(logits_.data(), logits_.size());
  if (std::isfinite(normalizer_)) chances_.weigh(scores_of(logits_, 0, 1), choice_.sampling);
  return chances_;
}

}  // namespace glassformer
