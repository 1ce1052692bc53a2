#pragma once

#include <span>

#include "families/config/model_config.hpp"

namespace glassformer {

/// Turns the logits of one text or token into scores, in place. Throws `non_finite` if a logit is
/// not a finite number. There must be at least one logit.
void to_scores(Scoring scoring, std::span<float> logits);

}  // namespace glassformer
