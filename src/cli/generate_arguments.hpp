#pragma once

#include "api/tasks/generate.hpp"
#include "cli/arguments.hpp"

// Arguments that the commands which write texts share.

namespace glassformer {

/// Declares --max-new-tokens, which is `usual` if neither it nor the folder tells, and
/// --min-new-tokens.
void add_lengths(CLI::App& app, GenerateOptions& options, std::size_t usual);
/// Declares the options for how the next token is chosen, and --stop.
void add_sampling(CLI::App& app, GenerateOptions& options);

}  // namespace glassformer
