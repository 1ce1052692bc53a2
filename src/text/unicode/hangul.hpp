#pragma once

/// Hangul syllables. Their parts can be computed from the code point (Unicode, section 3.12).
namespace glassformer::unicode::hangul {

inline constexpr char32_t first_syllable = 0xAC00, first_leading = 0x1100, first_vowel = 0x1161,
                          before_trailing = 0x11A7;  // no trailing consonant
inline constexpr char32_t leading_count = 19, vowel_count = 21, trailing_count = 28;

constexpr bool is_syllable(char32_t code) {
  return code - first_syllable < leading_count * vowel_count * trailing_count;
}

}  // namespace glassformer::unicode::hangul
