#pragma once

#include <vector>

#include "text/regex/program.hpp"

namespace glassformer::regex {

/// The steps of an expression, without the last `end`, and the sets that they refer to.
struct Parsed {
  std::vector<Instruction> steps;
  std::vector<CodeSet> sets;
};

/// Throws as Regex does.
Parsed parse(const Source& source);

}  // namespace glassformer::regex
