#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/tokens.hpp"

namespace glassformer {

/// The maximum number of hypotheses that a search keeps at once.
inline constexpr std::size_t max_beams = 64;

/// The maximum length_penalty of a search.
inline constexpr float max_length_penalty = 10;

/// A text that a model generated.
struct OutputText {
  std::string text;
  float score;                      ///< log-probability / tokens ^ length_penalty
  std::vector<OutputToken> tokens;  ///< including the end token, if there is one
};

}  // namespace glassformer
