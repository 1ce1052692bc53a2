#pragma once

#include <cstddef>
#include <cstdint>

#include "text/characters.hpp"

/// Properties of Unicode's characters, all of the version in table.cpp; unpacked when first asked
/// for.
namespace glassformer::unicode {

/// General categories, as far as tokenizers tell them apart; the numbers are those of the table.
enum class Category : std::uint8_t {
  other,            // symbols, separators, surrogates, unassigned
  letter,           // L
  digit,            // Nd
  letter_number,    // Nl
  other_number,     // No
  nonspacing_mark,  // Mn
  other_mark,       // Mc, Me
  connector,        // Pc
  punctuation,      // the rest of P
  control,          // Cc, Cf, Co
  letter_symbol,    // symbols with the property Alphabetic
};
Category category(char32_t code);

bool is_letter(char32_t code);
bool is_number(char32_t code);
bool is_mark(char32_t code);
bool is_punctuation(char32_t code);
/// The property White_Space.
bool is_white_space(char32_t code);
/// What \w means in regular expressions: letters, marks, digits, connectors, joiners.
bool is_word(char32_t code);

/// The simple mapping. Of U+0130, which becomes two characters, it is the first.
char32_t lower_case(char32_t code);

/// Characters of the extended grapheme cluster (UAX 29) that `text`, which is not empty, starts
/// with.
std::size_t cluster_size(CharacterSpan text);

std::uint8_t combining_class(char32_t code);

}  // namespace glassformer::unicode
