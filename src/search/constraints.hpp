#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/scorer.hpp"

namespace glassformer {

/// The tokens `ids` of a text, possibly with repetitions, and the penalty for repeating them.
struct Repetition {
  std::span<const std::int32_t> ids;
  float penalty;
};

/// Tokens that may not come next, in addition to those that are never generated.
struct TokenRules {
  /// No n-gram of this size may occur twice in the text, prompt included. 0 disables the rule
  /// (Paulus et al. 2017, "A Deep Reinforced Model for Abstractive Summarization", section 2.5).
  std::size_t no_repeat_ngram = 0;
  /// The text may not end before the decoder has read this many tokens.
  std::size_t min_length = 0;
  std::vector<std::int32_t> ends = {};                ///< the end tokens
  std::vector<std::vector<std::int32_t>> never = {};  ///< forbidden words, of one or more tokens

  /// Tokens that may not come first, that is, when the decoder has read `begin` tokens.
  std::vector<std::int32_t> not_first = {};
  std::size_t begin = 0;
  /// The token that must follow a decoder's first one, as if it had probability 1. Only if the
  /// decoder has read nothing else.
  std::optional<std::int32_t> second = {};

  bool empty() const {
    return no_repeat_ngram == 0 && min_length == 0 && never.empty() && not_first.empty() && !second;
  }
};

/// Sets the scores [V] of tokens that may not follow `ids` to -∞. `ids` has the last token first.
void forbid(std::span<const std::int32_t> ids, const TokenRules& rules, std::span<float> scores);

/// scores [V] = logits, except for repeated tokens: logit / penalty if positive, logit · penalty if
/// negative (Keskar et al. 2019, CTRL, section 4.1, extended to negative logits). `scores` differs
/// from `logits` only in such tokens.
void penalize(std::span<const float> logits, const Repetition& repeated, std::span<float> scores);

/// What changes a model's scores before a token is chosen.
struct Constraints {
  float repetition_penalty = 1;
  /// Above 1, tokens of the given text get higher scores: the inverse of a repetition penalty.
  float encoder_repetition_penalty = 1;
  TokenRules rules = {};

  bool empty() const {
    return repetition_penalty == 1 && encoder_repetition_penalty == 1 && rules.empty();
  }
};

/// The scores that constraints apply to, as in the transformers library.
enum class ScoreKind {
  logits,    ///< where one token is chosen, for SamplingSearch
  logprobs,  ///< where hypotheses are compared, for BeamSearch
};

/// Applies constraints to the scores of a model: forbidden tokens get -∞.
class ConstrainedScorer final : public NextTokenScorer {
 public:
  /// `decoding` must outlive this object. A call has at most `rows` extensions. If the scores are
  /// logits, only those of the first `tokens` of the vocabulary are returned: a model may have more
  /// than its tokenizer.
  ConstrainedScorer(DecodingScorer& decoding, const Constraints& constraints, ScoreKind kind,
                    std::size_t rows, std::size_t tokens);

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override;

  /// Sets the tokens of a source's given text, for encoder_repetition_penalty.
  void give(std::size_t source, std::vector<std::int32_t> tokens) {
    given_.resize(std::max(given_.size(), source + 1));
    given_[source] = std::move(tokens);
  }

  /// Marks a source's first `tokens` tokens as given: the model's own scores are returned for them.
  void force(std::size_t source, std::size_t tokens) {
    forced_.resize(std::max(forced_.size(), source + 1));
    forced_[source] = tokens;
  }

 private:
  NextTokens constrained(const NextTokens& next, std::size_t row, std::size_t rows);

  DecodingScorer& decoding_;
  Constraints constraints_;
  ScoreKind kind_;
  std::size_t tokens_;
  std::vector<std::int32_t> ids_;  // of a hypothesis, the last one first
  std::vector<float> logprobs_;    // [V]
  std::vector<float> scores_;      // [rows, V]
  std::vector<float> kept_;        // [V], with the penalty of the given text
  std::vector<float> all_;         // [rows, V], if the decoding returns only part of the logits
  std::vector<NextTokens> next_;   // [rows]
  std::vector<std::vector<std::int32_t>> given_;  // per source; none past the end
  std::vector<std::size_t> forced_;               // given tokens per source; 0 past the end
};

}  // namespace glassformer
