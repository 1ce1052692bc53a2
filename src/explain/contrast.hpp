#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace glassformer {

/// The number that is explained, as weights of the logits: y = Σ weights[c] · logits[c]. Never a
/// probability: those saturate, and their parts do not add up.
struct Contrast {
  std::size_t label = 0;  ///< what the number is for
  std::vector<float> weights;

  /// Throws `non_finite` where that is not a finite number.
  double of(const float* logits) const;
};

/// For a label of a classifier: of two labels the log-odds, z_label - z_other; of more, its logit
/// above their mean; of one, its logit.
Contrast contrast_for(std::size_t label, std::size_t labels);

/// Why this token and not that one: z_token - z_other (Yin and Neubig 2022).
Contrast contrast_between(std::size_t token, std::size_t other, std::size_t vocabulary);

/// Throws `non_finite` if one of the numbers of an explanation, or of what it explains, is not
/// finite.
void expect_finite(std::span<const float> numbers);

/// Where the largest logit is.
std::size_t largest(std::span<const float> logits);

}  // namespace glassformer
