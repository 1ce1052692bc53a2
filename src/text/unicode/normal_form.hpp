#pragma once

#include <vector>

#include "text/characters.hpp"

namespace glassformer::unicode {

/// Unicode's normal forms (UAX 15): canonical or compatibility, decomposed or composed.
enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Converts a text to a normal form. The replacements of a character keep its position. If several
/// characters are combined, the result has the position of the first.
Characters normal_form(CharacterSpan text, NormalForm form);

/// Returns the code points that have a decomposition, in ascending order, without the syllables of
/// Hangul.
std::vector<char32_t> decomposable_codes();

}  // namespace glassformer::unicode
