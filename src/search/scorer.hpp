#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "models/language_model.hpp"

namespace glassformer {

/// The tokens that may follow a hypothesis, and their logits.
struct NextTokens {
  std::span<const float> logits;
  std::span<const std::int32_t> ids;  ///< ascending, one a logit; empty: the whole vocabulary
  /// What a logit has above the token's log-probability; none: that of a softmax over these.
  std::optional<float> normalizer = {};

  std::int32_t id(std::size_t i) const {
    return ids.empty() ? static_cast<std::int32_t>(i) : ids[i];
  }
};

/// What a search asks of a model: which token comes next.
class NextTokenScorer {
 public:
  virtual ~NextTokenScorer() = default;

  /// Feeds one token per extension; they become the next nodes, counted from 0 in the order of all
  /// calls. Returns what may follow each, valid until the next call.
  virtual std::span<const NextTokens> feed(std::span<const Extension> extensions) = 0;
};

/// A decoding of a model.
class DecodingScorer final : public NextTokenScorer {
 public:
  /// `choices`: of each source, the ids that its hypotheses are made of; none: the whole
  /// vocabulary.
  DecodingScorer(const LanguageModel& model, DecodingState state,
                 std::vector<std::vector<std::int32_t>> choices = {});

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override;

  std::size_t vocab_size() const { return model_.vocab_size(); }
  const DecodingState& state() const { return state_; }
  /// For what is fed without asking what follows.
  DecodingState& state() { return state_; }

 private:
  struct Choice {
    Choice(const LanguageModel& model, std::vector<std::int32_t> some)
        : ids(std::move(some)), projection(model.projection(ids)) {}

    std::vector<std::int32_t> ids;
    Linear projection;  // onto them
  };

  // Logits of rows [first, first + count) of the step under way, all of one source.
  void project(View<2>& hidden, std::size_t first, std::size_t count, const Choice& choice);

  const LanguageModel& model_;
  DecodingState state_;
  std::deque<Choice> choices_;    // one a source, or none
  std::size_t widest_ = 0;        // most ids of a choice
  std::vector<float> logits_;     // [rows, widest_]
  std::vector<NextTokens> next_;  // [R]
};

}  // namespace glassformer
