#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "glassformer/tokens.hpp"

namespace glassformer {

/// The most hypotheses that a search follows at once.
inline constexpr std::size_t max_beams = 64;

/// The largest length_penalty of a search.
inline constexpr float max_length_penalty = 10;

/// When the library transformers ends a search, beside at the length limit, once `beams` hypotheses
/// have ended: its `early_stopping`.
enum class EarlyStopping {
  no,     ///< when nothing that still grows is better, divided by its present length
  yes,    ///< at once
  never,  ///< as no, but divided by the longest length; with a length_penalty above 0
};

/// A text that a model wrote.
struct OutputText {
  std::string text;
  float score;                      ///< log-probability / tokens ^ length_penalty
  std::vector<OutputToken> tokens;  ///< the end token included, where it ends with one
};

}  // namespace glassformer
