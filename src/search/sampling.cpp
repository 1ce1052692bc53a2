#include "search/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "search/scorer.hpp"

namespace glassformer {

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
    if (logits[i] != minus_infinity) heap_.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::make_heap(heap_, Worse{logits_});
  kept_.clear();
  next_ = 0;
  count_ = heap_.size();
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
  // Keeps the first tokens, as long as another one may come.
  const auto keep_while = [&](const auto& may_come) {
    double before = 0;
    std::size_t few = 0;
    while (few < count_ && may_come(few, before)) before += weight(at(few++));
    count_ = few;
    total_ = before;
  };
  if (options.top_p < 1) {
    const double enough = static_cast<double>(options.top_p) * total_;
    keep_while([&](std::size_t few, double before) { return few == 0 || before < enough; });
  }
  if (options.min_p > 0) {
    const double least = static_cast<double>(options.min_p) * weight(at(0));
    keep_while([&](std::size_t few, double) { return weight(at(few)) >= least; });
  }
  if (options.typical_p < 1) keep_typical(options.typical_p);
}

void TokenChances::keep_typical(float mass) {
  struct Token {
    std::int32_t id;
    double chance, distance;  // |-ln chance - entropy|
  };
  std::vector<Token> tokens;
  double entropy = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::int32_t id = at(i);
    const double chance = weight(id) / total_;
    if (chance > 0) entropy -= chance * std::log(chance);
    tokens.push_back({id, chance, 0});
  }
  for (Token& token : tokens) token.distance = std::abs(-std::log(token.chance) - entropy);
  std::vector<Token> nearest = tokens;
  std::ranges::stable_sort(nearest, {}, &Token::distance);
  std::size_t last = 0;
  for (double sum = nearest[0].chance; sum < static_cast<double>(mass);
       sum += nearest[last].chance) {
    if (last + 1 == nearest.size()) break;
    ++last;
  }
  kept_.clear();
  total_ = 0;
  for (const Token& token : tokens) {
    if (token.distance > nearest[last].distance) continue;
    kept_.push_back(token.id);
    total_ += weight(token.id);
  }
  count_ = kept_.size();
}

std::optional<TokenChance> TokenChances::next() {
  if (next_ == count_) return std::nullopt;
  const std::int32_t id = at(next_++);
  return TokenChance{id, weight(id) / total_};
}

std::int32_t TokenChances::sample(SplitMix64& random) {
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

}  // namespace glassformer
