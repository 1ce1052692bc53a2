#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace glassformer {

/// What makes scores of a classifier's logits.
enum class Scoring : std::uint8_t {
  softmax,  ///< one label is right: the scores sum to 1
  sigmoid,  ///< each label is right or wrong by itself: 1 / (1 + e^-x)
  raw,      ///< the model estimates a quantity
};

/// As config.json says: `problem_type`, empty if absent, and the number of labels. Regression is
/// raw; several labels at once, or one label in all, are sigmoid. Throws `invalid_config` for a
/// problem type that does not exist.
Scoring scoring_of(std::string_view problem_type, std::size_t labels);

/// Turns the logits of one text or token into scores, in place. Throws `non_finite` where a logit
/// is not a finite number. At least one.
void to_scores(Scoring scoring, std::span<float> logits);

}  // namespace glassformer
