#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "jinja/value.hpp"

// Characters as Python classifies and converts them.

namespace glassformer::jinja {

/// Returns the character at the byte `at` of a text in UTF-8, and moves `at` behind it.
char32_t next_character(std::string_view text, std::size_t& at);

/// Returns the byte at which the character with an index starts.
std::size_t byte_of(const Text& text, std::size_t index);

/// Returns the number of characters of a text in UTF-8.
std::size_t character_count(std::string_view text);

enum class CharacterClass : std::uint8_t {
  alpha,
  decimal,
  digit,
  numeric,
  alnum,
  space,
  printable,
  ascii,
  cased,
  lower,
  upper,
  title,
  word,  ///< \w in regular expressions
};
bool is_in_class(char32_t code, CharacterClass what);

inline bool is_space(char32_t code) { return is_in_class(code, CharacterClass::space); }

/// Returns Python's islower() or isupper(): whether a text has a letter in the wanted case and none
/// in the other.
bool is_text_in_case(std::string_view text, CharacterClass wanted, CharacterClass other);

enum class LetterCase : std::uint8_t { lower, upper, title, capitalized, swapped, folded };
std::string convert_case(std::string_view text, LetterCase to);

}  // namespace glassformer::jinja
