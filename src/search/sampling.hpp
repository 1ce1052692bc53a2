#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "search/scorer.hpp"

namespace glassformer {

/// The distribution from which the next token is drawn.
struct SamplingOptions {
  float temperature = 1;  ///< above 0; logits are divided by it
  std::size_t top_k = 0;  ///< only the k most probable tokens and ties with the last; 0: all
  float top_p = 1;        ///< of those, the fewest whose probabilities reach this; at least one
};

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

  bool empty() const {
    return no_repeat_ngram == 0 && min_length == 0 && never.empty() && not_first.empty();
  }
};

/// Sets the scores [V] of tokens that may not follow `ids` to -∞. `ids` has the last token first.
void forbid(std::span<const std::int32_t> ids, const TokenRules& rules, std::span<float> scores);

/// scores [V] = logits, except for repeated tokens: logit / penalty if positive, logit · penalty if
/// negative (Keskar et al. 2019, CTRL, section 4.1, extended to negative logits).
void penalize(std::span<const float> logits, const Repetition& repeated, std::span<float> scores);

struct TokenChance {
  std::int32_t id;
  double probability;
};

/// The tokens that may come next, most probable first, then by ascending id. Only the tokens that
/// are read get sorted, and only the constructor allocates memory.
class TokenChances {
 public:
  explicit TokenChances(std::size_t vocab_size);

  /// `logits` [V]: finite, or -∞ for forbidden tokens; at least one is finite.
  void weigh(std::span<const float> logits, const SamplingOptions& options);
  /// Returns the next token, or nothing if there are no more. Probabilities sum to 1.
  std::optional<TokenChance> next();
  /// Draws a token: the first at which the cumulative probability exceeds u, a number of 53 bits
  /// that is uniform in [0, 1).
  std::int32_t draw(SplitMix64& random);

 private:
  std::int32_t pop();

  std::vector<float> logits_, weights_;  // [V] weights: e^((logit - the largest) / temperature)
  std::vector<std::int32_t> heap_;       // tokens not yet sorted, the best on top
  std::vector<std::int32_t> kept_;       // sorted tokens
  std::size_t next_ = 0, count_ = 0;     // index in kept_; number of all tokens
  double total_ = 0;                     // sum of their weights
};

/// How the next token is chosen.
struct TokenChoice {
  enum class Kind {
    most_probable,
    drawn,   ///< by `sampling`
    search,  ///< by a beam search
  };
  Kind kind = Kind::most_probable;
  SamplingOptions sampling = {};
  float repetition_penalty = 1;
  TokenRules rules = {};
  std::uint64_t seed = 0;  ///< of SplitMix64

  /// Returns whether scores differ from the model's own.
  bool changes_scores() const { return repetition_penalty != 1 || !rules.empty(); }
};

/// Picks the next token of each hypothesis, with the model's own log-probability, or returns no
/// token if every one is forbidden. For a search, returns all tokens with their scores:
/// log-probabilities after penalties, -∞ for forbidden tokens.
class ChoosingScorer final : public NextTokenScorer {
 public:
  /// `decoding` must outlive this object. A call has at most `rows` extensions; one if tokens are
  /// drawn. Only the first `tokens` of the vocabulary may be chosen: a model may have more than its
  /// tokenizer.
  ChoosingScorer(DecodingScorer& decoding, const TokenChoice& choice, std::size_t rows,
                 std::size_t tokens);

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override;

  /// Marks a source's first `tokens` tokens as given: the model's own scores are returned for them.
  void force(std::size_t source, std::size_t tokens) {
    forced_.resize(std::max(forced_.size(), source + 1));
    forced_[source] = tokens;
  }

  /// Returns the tokens that may follow one extension, by `sampling`. Valid until the next call.
  TokenChances& chances(const Extension& extension);
  /// log(Σ e^logit) of the last row that was fed, and its logits before penalties.
  float normalizer() const { return normalizer_; }
  std::span<const float> logits() const { return logits_; }

 private:
  // Returns the scores of row `row` of the last step, which has `rows` rows: [V] for a search,
  // otherwise those of the tokens that may be chosen.
  std::span<const float> scores_of(std::span<const float> logits, std::size_t row,
                                   std::size_t rows);

  DecodingScorer& decoding_;
  TokenChoice choice_;
  std::size_t tokens_;
  SplitMix64 random_;
  TokenChances chances_;
  std::vector<std::int32_t> ids_;  // of a hypothesis, the last one first
  std::vector<float> logprobs_;    // [V], for a search
  std::vector<float> scores_;      // [rows, V]
  std::vector<float> all_;         // [V], if the decoding returns only part of the logits
  std::vector<NextTokens> next_;
  std::vector<std::int32_t> chosen_;  // [rows]
  std::vector<float> chosen_logits_;  // [rows]
  std::vector<std::size_t> forced_;   // given tokens per source; 0 past the end
  float normalizer_ = 0;
  std::span<const float> logits_;
};

}  // namespace glassformer
