#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "glassformer/tokens.hpp"

namespace glassformer {

/// The maximum number of hypotheses that a search keeps at once.
inline constexpr std::size_t max_beams = 64;

/// The maximum length_penalty of a search.
inline constexpr float max_length_penalty = 10;

/// When a search ends before its length limit, once `beams` hypotheses have ended: `early_stopping`
/// of the transformers library.
enum class EarlyStopping {
  no,     ///< when no growing hypothesis has a better score at its current length
  yes,    ///< at once
  never,  ///< as no, but with the score at the maximum length if length_penalty is above 0
};

/// A text that a model generated.
struct OutputText {
  std::string text;
  float score;                      ///< log-probability / tokens ^ length_penalty
  std::vector<OutputToken> tokens;  ///< including the end token, if there is one
};

}  // namespace glassformer
