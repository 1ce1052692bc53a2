#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/tokens.hpp"
#include "base/option.hpp"

namespace glassformer {

/// The maximum number of hypotheses that a search keeps at once.
inline constexpr std::size_t max_beams = 64;

/// The maximum length_penalty of a search.
inline constexpr float max_length_penalty = 10;

/// A text that a model generated.
struct OutputText {
  std::string text;
  float score;
  std::vector<OutputToken> tokens;
};

template <class Visit>
void fields(Visit& visit, const OutputText& output) {
  visit("text", output.text);
  visit("score", output.score,
        {.help = "Its log-probability / tokens ^ `length_penalty`: normalized by its length."});
  visit("tokens", output.tokens,
        {.help = "Its tokens, with the end token if there is one. Their places are in the whole "
                 "output."});
}

inline constexpr Option about_early_stopping = {
    .help =
        "When a search ends, once as many hypotheses are finished as there are beams. true: at "
        "once. false: when no better one is likely. never: when none is possible.",
    .absent = "as the model's files say"};

}  // namespace glassformer
