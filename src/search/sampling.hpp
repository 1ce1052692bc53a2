#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "search/scorer.hpp"

namespace glassformer {

/// Which tokens may come next, and how likely each is drawn.
struct SamplingOptions {
  float temperature = 1;  ///< above 0: logits are divided by it
  std::size_t top_k =
      0;            ///< the so many most probable ones, and any as probable as the last; 0: all
  float top_p = 1;  ///< of those, the fewest whose probabilities reach this; one at least
};

/// The tokens that a text has already, `ids`, each once or more, and what that costs them.
struct Repetition {
  std::span<const std::int32_t> ids;
  float penalty;
};

/// Which tokens may not come next, beside those that never do.
struct TokenRules {
  /// No so many tokens in a row that the text, its prompt included, has already; 0: they may come
  /// again (Paulus et al. 2017, "A Deep Reinforced Model for Abstractive Summarization", section
  /// 2.5).
  std::size_t no_repeat_ngram = 0;
  /// No end before the decoder has read so many tokens.
  std::size_t min_length = 0;
  std::vector<std::int32_t> ends = {};                ///< the end tokens
  std::vector<std::vector<std::int32_t>> never = {};  ///< words, of a token each or of several

  /// Tokens that may not come where the decoder has read `begin` tokens, which is the first place.
  std::vector<std::int32_t> not_first = {};
  std::size_t begin = 0;

  bool empty() const {
    return no_repeat_ngram == 0 && min_length == 0 && never.empty() && not_first.empty();
  }
};

/// Makes the scores [V] of tokens that may not come after `ids`, the last one first, -∞.
void forbid(std::span<const std::int32_t> ids, const TokenRules& rules, std::span<float> scores);

/// scores [V] = logits, but of repeated tokens logit / penalty above 0 and logit · penalty below
/// (Keskar et al. 2019, CTRL, section 4.1, with the sign minded).
void penalize(std::span<const float> logits, const Repetition& repeated, std::span<float> scores);

struct TokenChance {
  std::int32_t id;
  double probability;
};

/// The tokens that may come next, most probable first, of equals the one with the smaller id. Only
/// those that are asked for are put in order, and nothing is allocated but in the constructor.
class TokenChances {
 public:
  explicit TokenChances(std::size_t vocab_size);

  /// logits [V], one at least; they are finite, or -∞ for what may not come.
  void weigh(std::span<const float> logits, const SamplingOptions& options);
  /// None: there are no more. Probabilities sum to 1.
  std::optional<TokenChance> next();
  /// One token drawn of all: a number u of 53 bits, uniform in [0, 1), and then the first one up to
  /// which probabilities sum to more than u.
  std::int32_t draw(SplitMix64& random);

 private:
  std::int32_t pop();

  std::vector<float> logits_, weights_;  // [V] weights: e^((logit - the largest) / temperature)
  std::vector<std::int32_t> heap_;       // those that are not in order yet, the best on top
  std::vector<std::int32_t> kept_;       // those that are
  std::size_t next_ = 0, count_ = 0;     // of kept_; how many may come in all
  double total_ = 0;                     // of their weights
};

/// How a text goes on.
struct TokenChoice {
  enum class Kind {
    most_probable,
    drawn,   ///< as `sampling` says
    search,  ///< left to a beam search
  };
  Kind kind = Kind::most_probable;
  SamplingOptions sampling = {};
  float repetition_penalty = 1;
  TokenRules rules = {};
  std::uint64_t seed = 0;  ///< of SplitMix64

  /// Whether scores differ from the model's own.
  bool changes_scores() const { return repetition_penalty != 1 || !rules.empty(); }
};

/// Leaves of a decoding's next tokens the one that is chosen, with the model's own log-probability,
/// or none where all are forbidden; or, for a search, all of them with their scores:
/// log-probabilities after penalties, -∞ for what may not come.
class ChoosingScorer final : public NextTokenScorer {
 public:
  /// The decoding outlives this. At most `rows` extensions a call; one where tokens are drawn. Of
  /// the vocabulary, the first `tokens` may be chosen: a model may have more than its tokenizer.
  ChoosingScorer(DecodingScorer& decoding, const TokenChoice& choice, std::size_t rows,
                 std::size_t tokens);

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override;

  /// So many of a source's tokens are given: before each, the model's own scores are left.
  void force(std::size_t source, std::size_t tokens) {
    forced_.resize(std::max(forced_.size(), source + 1));
    forced_[source] = tokens;
  }

  /// What may follow one extension, by `sampling`, until the next call.
  TokenChances& chances(const Extension& extension);
  /// log(Σ e^logit) of the last row that was fed, and its logits before they were penalized.
  float normalizer() const { return normalizer_; }
  std::span<const float> logits() const { return logits_; }

 private:
  // The scores of a row of the step that was fed last, of `rows`; [V] or, unless for a search, of
  // the tokens that may be chosen.
  std::span<const float> scores_of(std::span<const float> logits, std::size_t row,
                                   std::size_t rows);

  DecodingScorer& decoding_;
  TokenChoice choice_;
  std::size_t tokens_;
  SplitMix64 random_;
  TokenChances chances_;
  std::vector<std::int32_t> ids_;  // of a hypothesis, the last one first
  std::vector<float> logprobs_;    // [V], of a search
  std::vector<float> scores_;      // [rows, V]
  std::vector<float> all_;         // [V], of a decoding that gives the logits of a part
  std::vector<NextTokens> next_;
  std::vector<std::int32_t> chosen_;  // [rows]
  std::vector<float> chosen_logits_;  // [rows]
  std::vector<std::size_t> forced_;   // tokens, a source; none where it is shorter
  float normalizer_ = 0;
  std::span<const float> logits_;
};

}  // namespace glassformer
