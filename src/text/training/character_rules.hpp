#pragma once

#include <map>
#include <string>

namespace glassformer {

enum class LetterCase { keep, lower };

/// The rules of a character map: what replaces each sequence of characters, as UTF-8.
using CharacterRules = std::map<std::string, std::string>;

/// Returns rules that do nearly the same as SentencePiece's nmt_nfkc, or nmt_nfkc_cf for lower
/// case: characters become those of the normal form NFKC, white space and invisible marks become a
/// space, control characters are removed.
///
/// The rules cover every single character, and each letter that is written as a base and its marks.
/// They do not compose syllables of Hangul from their letters. Lower case is Unicode's simple
/// mapping; the final sigma becomes σ.
CharacterRules normalization_rules(LetterCase letter_case);

}  // namespace glassformer
