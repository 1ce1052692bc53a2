#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace glassformer {

/// U+FFFD.
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Returns the bytes of the character that `lead` starts, or 1 for a byte that cannot start one.
constexpr std::size_t announced_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Returns the bytes of the character at the start of `text`, which must not be empty; 0 if it is
/// not valid UTF-8 (stray or missing continuation bytes, overlong forms, surrogates, above
/// U+10FFFF).
constexpr std::size_t valid_character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = announced_size(text[0]);
  if (size == 1 || lead > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong =
      lead < 0xC2 || (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

constexpr bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    // Fast path: most characters are ASCII, and every piece is checked while a page waits.
    const bool ascii = static_cast<unsigned char>(text[0]) < 0x80;
    const std::size_t size = ascii ? 1 : valid_character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

/// Appends `character`, a code point other than a surrogate.
inline void append_character(std::string& text, char32_t character) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | (character >> shift & 0x3F));
  };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += {static_cast<char>(0xC0 | character >> 6), tail(0)};
  } else if (character < 0x10000) {
    text += {static_cast<char>(0xE0 | character >> 12), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xF0 | character >> 18), tail(12), tail(6), tail(0)};
  }
}

/// Returns the UTF-16 code units of a text. Each byte that is not valid UTF-8 counts as one.
constexpr std::uint32_t utf16_size(std::string_view text) {
  std::uint32_t units = 0;
  while (!text.empty()) {
    const std::size_t size = valid_character_size(text);
    units += size == 4 ? 2 : 1;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return units;
}

}  // namespace glassformer
