#pragma once

#include "cli/lines.hpp"
#include "tasks/explain/explanation.hpp"

namespace glassformer {

/// Returns the line that shows an explanation: NAME=NUMBER fields between tabs, or texts.
OutputLine explanation_line(const ExplainedInput& result);

}  // namespace glassformer
