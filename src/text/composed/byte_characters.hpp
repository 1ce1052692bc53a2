#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/characters.hpp"

namespace glassformer {

/// Returns the printable character that byte-level vocabularies use for a byte. Most of Latin-1
/// maps to itself, the other bytes map in order to U+0100 and up. A space is U+0120.
char32_t character_of_byte(unsigned char byte);
std::optional<unsigned char> byte_of_character(char32_t code);

/// Returns the bytes that these characters represent, or nothing if there is any other character.
std::optional<std::string> bytes_of_characters(std::string_view utf8);

inline constexpr char32_t byte_level_space = 0x120;

/// Converts a text's UTF-8 bytes to these characters. Each keeps the position of its byte's
/// character.
Characters to_byte_characters(CharacterSpan text);

}  // namespace glassformer
