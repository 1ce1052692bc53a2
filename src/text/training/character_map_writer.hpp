#pragma once

#include <string>

#include "text/training/character_rules.hpp"

namespace glassformer {

/// Returns the rules as the `precompiled_charsmap` of a SentencePiece model, which CharacterMap
/// reads. Keys must not be empty; neither keys nor replacements may contain NUL.
std::string write_character_map(const CharacterRules& rules);

}  // namespace glassformer
