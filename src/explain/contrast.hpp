#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace glassformer {

/// The explained number, as weights of the logits: y = Σ weights[c] · logits[c]. Never a
/// probability: those saturate, and their parts do not add up.
struct Contrast {
  std::size_t label = 0;  ///< the label or token of the number
  std::vector<float> weights;

  /// Returns the number. Throws `non_finite` if it is not finite.
  double of(const float* logits) const;
};

/// Returns the contrast for a classifier's label: with two labels the log-odds, z_label - z_other;
/// with more, its logit minus the mean of all logits; with one, its logit.
Contrast contrast_for(std::size_t label, std::size_t labels);

/// Returns the lead of one token over another, z_token - z_other (Yin and Neubig 2022).
Contrast contrast_between(std::size_t token, std::size_t other, std::size_t vocabulary);

/// Throws `non_finite` if a number of an explanation, or of the explained answer, is not finite.
void expect_finite(std::span<const float> numbers);

/// Returns the index of the largest logit.
std::size_t largest(std::span<const float> logits);

}  // namespace glassformer
