#pragma once

#include "text/characters.hpp"

namespace glassformer::unicode {

/// Unicode's normal forms (UAX 15): canonical or by compatibility, decomposed or composed.
enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The text in a normal form. What one character became keeps that character's place; what several
/// became, the first one's.
Characters normal_form(CharacterSpan text, NormalForm form);

}  // namespace glassformer::unicode
