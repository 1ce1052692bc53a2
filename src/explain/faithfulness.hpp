#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "glassformer/explain.hpp"

namespace glassformer {

/// What makes probabilities of a classifier's logits.
enum class Probability {
  softmax,
  sigmoid,
  none,  ///< the model estimates a quantity: its logits stand for themselves
};

/// Deletion and insertion curves (Samek et al. 2017; Petsiuk et al. 2018, RISE, section 3) and
/// ERASER's measures. Up to 40 parts every number of them is a point, of more 20 quantiles.
class FaithfulnessTest {
 public:
  /// What is tested.
  struct Subject {
    ExplainedText text;
    /// The parts, such as words: positions of their tokens. Tokens of none, such as special ones,
    /// always stay.
    std::vector<std::vector<std::size_t>> parts;
    std::vector<float> scores;  ///< of each part; of equal ones the first counts as higher
    std::optional<std::size_t> label = {};  ///< none: the one that the text has
    Probability probability = Probability::softmax;
  };

  /// Runs the text once. `orders`: how many random ones, made from `seed`. Throws `unsupported`
  /// unless the head has a logit for each class of a text, `invalid_option` for fewer than two
  /// parts.
  FaithfulnessTest(const EncoderRunner& model, Subject subject, std::size_t orders,
                   std::uint32_t seed);

  /// Runs some of the texts with parts left out, so many that their tokens together are about
  /// `tokens`, one at least. Returns whether any are left.
  bool step(std::size_t tokens = 512);

  /// Once no step is left.
  Faithfulness take();

 private:
  // A text without some parts, and what the model makes of it.
  struct Run {
    std::vector<bool> removed;
    double number = 0, probability = 0;
  };
  double probability_of(const float* logits) const;
  void plan(const std::vector<std::size_t>& order, bool shares);
  OrderTest read(std::size_t first, bool shares) const;
  void plan_leave_one_out();

  EncoderRunner model_;
  Subject subject_;
  Contrast contrast_;
  Run full_;
  std::vector<Run> runs_;
  std::vector<std::size_t> orders_;  // of each, its first run
  std::vector<std::size_t> counts_, share_counts_;
  std::size_t next_ = 0;
  bool knows_losses_ = false;
  Faithfulness result_;
};

}  // namespace glassformer
