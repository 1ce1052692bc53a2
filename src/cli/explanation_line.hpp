#pragma once

#include "cli/lines.hpp"
#include "tasks/explain/explanation.hpp"
#include "tasks/explain/feature_explanation.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/explain/score_explanation.hpp"

namespace glassformer {

/// Returns the line that shows an explanation: NAME=NUMBER fields between tabs, or texts.
OutputLine explanation_line(const ExplainedInput& result);
/// Does the same for a next token. Gradients of tensors are shown by their length (Euclidean norm).
OutputLine next_gradients_line(const NextGradients& result);
/// Does the same for a score: its parts, those of the query and those of the key.
OutputLine score_line(const ScoreExplanation& result);

/// Does the same for features: a field for each row of each dictionary.
OutputLine features_line(const FeatureExplanation& result);

}  // namespace glassformer
