#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "models/language_model.hpp"

namespace glassformer {

/// The log-probability of a token that cannot come next.
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// The tokens that may follow a hypothesis, and their logits.
struct NextTokens {
  std::span<const float> logits;
  std::span<const std::int32_t> ids;  ///< ascending, one per logit; empty: the whole vocabulary
  /// The difference between a logit and the token's log-probability. If absent, that of a softmax
  /// over these logits.
  std::optional<float> normalizer = {};
  /// The model's own logits [V], where constraints have changed `logits`; otherwise empty.
  std::span<const float> unchanged = {};

  std::int32_t id(std::size_t i) const {
    return ids.empty() ? static_cast<std::int32_t>(i) : ids[i];
  }
  /// Returns the logit of a token, or nothing if it is not among `ids`.
  std::optional<float> logit_of(std::int32_t token) const;
};

/// Scores the tokens that may come next, for a search.
class NextTokenScorer {
 public:
  virtual ~NextTokenScorer() = default;

  /// Feeds one token per extension. They become the next nodes, numbered from 0 over all calls.
  /// Returns the tokens that may follow each, valid until the next call.
  virtual std::span<const NextTokens> feed(std::span<const Extension> extensions) = 0;
};

/// Scores the next tokens by decoding with a model.
class DecodingScorer final : public NextTokenScorer {
 public:
  /// `choices`: per source, the ids that its hypotheses may contain; empty: the whole vocabulary.
  DecodingScorer(const LanguageModel& model, DecodingState state,
                 std::vector<std::vector<std::int32_t>> choices = {});

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override;

  std::size_t vocab_size() const { return model_.vocab_size(); }
  const DecodingState& state() const { return state_; }
  /// For feeding tokens whose continuations are not needed.
  DecodingState& state() { return state_; }

 private:
  struct Selection {
    Selection(const LanguageModel& model, std::vector<std::int32_t> some)
        : ids(std::move(some)), projection(model.projection(ids)) {}

    std::vector<std::int32_t> ids;
    Linear projection;  // onto these ids
  };

  // Computes the logits of rows [first, first + count) of the current step, all of one source.
  void project(View& hidden, std::size_t first, std::size_t count, const Selection& selection);

  const LanguageModel& model_;
  DecodingState state_;
  std::deque<Selection> selections_;  // one per source, or empty
  std::size_t widest_ = 0;            // ids in the largest selection
  std::vector<float> logits_;         // [rows, widest_]
  std::vector<NextTokens> next_;      // [R]
};

}  // namespace glassformer
