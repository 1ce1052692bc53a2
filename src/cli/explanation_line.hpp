#pragma once

#include "cli/lines.hpp"
#include "tasks/explain/explanation.hpp"
#include "tasks/explain/next/next_gradients.hpp"

namespace glassformer {

/// Returns the line that shows an explanation: NAME=NUMBER fields between tabs, or texts.
OutputLine explanation_line(const ExplainedInput& result);
/// Does the same for a next token. Gradients of tensors are shown by their length (Euclidean norm).
OutputLine next_gradients_line(const NextGradients& result);

}  // namespace glassformer
