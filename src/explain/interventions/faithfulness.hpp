#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "explain/next_token.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// How a classifier's logits become probabilities.
enum class Probability {
  softmax,
  sigmoid,
  none,  ///< the model estimates a quantity: its logits are used unchanged
};

/// Runs a text without some of its tokens, which are masked as padding is.
class MaskedRuns {
 public:
  struct Answer {
    double number = 0, probability = 0;  ///< the explained number, and its label's probability
  };
  virtual ~MaskedRuns() = default;
  /// Returns how many tokens a run reads.
  virtual std::size_t tokens() const = 0;
  /// Returns the answer to the whole text.
  virtual Answer whole() const = 0;
  /// Runs the text once for each list of masked tokens, all at once.
  virtual std::vector<Answer> operator()(
      std::span<const std::vector<std::size_t>> masked) const = 0;
};

/// Runs a text up to a next token: token i of the decoder has the index i, and those of its source
/// follow. The last token of the decoder cannot be masked. The text must outlive this.
std::unique_ptr<const MaskedRuns> masked_runs(const WriterRunner& model, const DecodedText& text,
                                              Contrast contrast);

/// Deletion and insertion curves (Samek et al. 2017; Petsiuk et al. 2018, RISE, section 3) and the
/// measures of ERASER. Up to 40 parts, curves have a point for every number of parts; with more,
/// for 20 quantiles.
class FaithfulnessTest {
 public:
  /// The parts of a text, and the scores to test.
  struct Ranking {
    /// The parts, such as words: positions of their tokens. Tokens in no part, such as special
    /// ones, always stay.
    std::vector<std::vector<std::size_t>> parts;
    std::vector<float> scores;       ///< per part; of equal ones the first ranks higher
    std::vector<float> tokens = {};  ///< per token, for the result
  };
  /// A text that a classifier reads.
  struct Subject {
    ExplainedText text;
    Ranking ranking;
    std::optional<std::size_t> label = {};  ///< default: that of the text
    Probability probability = Probability::softmax;
  };

  /// Runs the text once. `orders`: number of random orders, made from `seed`. Throws `unsupported`
  /// unless the head has one logit per class of a text, and `invalid_option` for fewer than two
  /// parts.
  FaithfulnessTest(const EncoderRunner& model, Subject subject, std::size_t orders,
                   std::uint32_t seed);
  /// The same for a next token.
  FaithfulnessTest(std::unique_ptr<const MaskedRuns> runs, Ranking ranking, std::size_t orders,
                   std::uint32_t seed);

  /// Runs some of the texts with parts left out: at least one, and about `tokens` tokens together.
  /// Returns whether any are left.
  bool step(std::size_t tokens = 512);

  /// Returns the result. Call it when no step is left.
  Faithfulness take();

 private:
  // A text without some parts, and the model's answer to it.
  struct Run {
    std::vector<bool> removed;
    MaskedRuns::Answer answer = {};
  };
  std::vector<std::size_t> masked_in(const Run& run) const;
  void plan(const std::vector<std::size_t>& order, bool shares);
  OrderTest read(std::size_t first, bool shares) const;
  void plan_leave_one_out();

  std::unique_ptr<const MaskedRuns> masked_runs_;
  Ranking ranking_;
  MaskedRuns::Answer full_;
  std::vector<Run> runs_;
  std::vector<std::size_t> orders_;  // first run of each order
  std::vector<std::size_t> counts_, share_counts_;
  std::size_t next_ = 0;
  bool knows_losses_ = false;
  Faithfulness result_;
};

}  // namespace glassformer
