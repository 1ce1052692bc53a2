#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/characters.hpp"

/// Properties of Unicode's characters, of the version in table.cpp. They are unpacked on first use.
namespace glassformer::unicode {

/// General categories. The numbers are the same as in the table.
enum class Category : std::uint8_t {
  uppercase_letter,       // Lu
  lowercase_letter,       // Ll
  titlecase_letter,       // Lt
  modifier_letter,        // Lm
  other_letter,           // Lo
  nonspacing_mark,        // Mn
  spacing_mark,           // Mc
  enclosing_mark,         // Me
  decimal_number,         // Nd
  letter_number,          // Nl
  other_number,           // No
  connector_punctuation,  // Pc
  dash_punctuation,       // Pd
  open_punctuation,       // Ps
  close_punctuation,      // Pe
  initial_punctuation,    // Pi
  final_punctuation,      // Pf
  other_punctuation,      // Po
  math_symbol,            // Sm
  currency_symbol,        // Sc
  modifier_symbol,        // Sk
  other_symbol,           // So
  letter_symbol,          // So with the property Alphabetic
  space_separator,        // Zs
  line_separator,         // Zl
  paragraph_separator,    // Zp
  control,                // Cc
  format,                 // Cf
  surrogate,              // Cs
  private_use,            // Co
  unassigned,             // Cn
};
Category category(char32_t code);

/// A set of categories: bit i is the category with number i.
using Categories = std::uint32_t;

constexpr Categories categories(Category first, Category last) {
  return (2u << static_cast<unsigned>(last)) - (1u << static_cast<unsigned>(first));
}
constexpr Categories only(Category category) { return categories(category, category); }

inline constexpr Categories letter_categories =
    categories(Category::uppercase_letter, Category::other_letter);
inline constexpr Categories mark_categories =
    categories(Category::nonspacing_mark, Category::enclosing_mark);
inline constexpr Categories number_categories =
    categories(Category::decimal_number, Category::other_number);
inline constexpr Categories punctuation_categories =
    categories(Category::connector_punctuation, Category::other_punctuation);
inline constexpr Categories symbol_categories =
    categories(Category::math_symbol, Category::letter_symbol);
inline constexpr Categories separator_categories =
    categories(Category::space_separator, Category::paragraph_separator);
inline constexpr Categories other_categories = categories(Category::control, Category::unassigned);
/// The categories of \w in regular expressions. Each library adds a few characters.
inline constexpr Categories word_categories =
    letter_categories | mark_categories | only(Category::decimal_number) |
    only(Category::letter_number) | only(Category::connector_punctuation) |
    only(Category::letter_symbol);

inline constexpr char32_t last_code = 0x10FFFF;

/// Returns the code points up to last_code at which characters of the categories begin or end, in
/// ascending order.
std::vector<char32_t> bounds_of(Categories wanted);
/// Returns the same bounds for characters of the script Han.
std::vector<char32_t> han_bounds();

bool is_letter(char32_t code);
bool is_number(char32_t code);
bool is_mark(char32_t code);
bool is_punctuation(char32_t code);
/// Returns whether a character has the property White_Space.
bool is_white_space(char32_t code);
/// Returns whether \w of Rust's regex library matches a character: `word_categories` and the two
/// joiners.
bool is_word(char32_t code);

/// Returns the simple lower-case mapping. U+0130 becomes two characters; returns the first.
char32_t lower_case(char32_t code);

/// Returns the first character whose simple lower-case mapping this is, or the character itself.
char32_t upper_case(char32_t code);

/// Returns the number of characters of the extended grapheme cluster (UAX 29) at the start of
/// `text`, which must not be empty.
std::size_t cluster_size(CharacterSpan text);

std::uint8_t combining_class(char32_t code);

}  // namespace glassformer::unicode
