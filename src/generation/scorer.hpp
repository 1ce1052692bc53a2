#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "models/seq2seq.hpp"

namespace glassformer {

/// The tokens that may follow a hypothesis, and their logits.
struct NextTokens {
  std::span<const float> logits;
  std::span<const std::int32_t> ids;  ///< ascending, one a logit; empty: the whole vocabulary

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

/// A decoding of the encoder-decoder model.
class Seq2SeqScorer final : public NextTokenScorer {
 public:
  /// `choices`: of each source, the ids that its hypotheses are made of; none: the whole
  /// vocabulary.
  Seq2SeqScorer(Seq2Seq& model, DecodingState state,
                std::vector<std::vector<std::int32_t>> choices = {});

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override;

  const DecodingState& state() const { return state_; }

 private:
  struct Choice {
    Choice(const Seq2Seq& model, std::vector<std::int32_t> some)
        : ids(std::move(some)), projection(model.projection(ids)) {}

    std::vector<std::int32_t> ids;
    Linear projection;  // onto them
  };

  // Logits of rows [first, first + count) of the step under way, all of one source.
  void project(View<2>& hidden, std::size_t first, std::size_t count, const Choice& choice);

  Seq2Seq& model_;
  DecodingState state_;
  std::deque<Choice> choices_;    // one a source, or none
  std::size_t widest_ = 0;        // most ids of a choice
  std::vector<float> logits_;     // [rows, widest_]
  std::vector<NextTokens> next_;  // [R]
};

}  // namespace glassformer
