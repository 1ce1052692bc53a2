#pragma once

#include "cli/commands.hpp"

namespace glassformer {

/// Parses the arguments of the program and runs their command. Throws what the command throws.
Exit run_command(int argc, char** argv, const char* version);

}  // namespace glassformer
