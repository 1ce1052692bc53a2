#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/characters.hpp"

namespace glassformer {

/// Byte-level vocabularies write each byte as a printable character: most of Latin-1 as itself, the
/// others, in order, from U+0100 on; a space is U+0120.
char32_t character_of_byte(unsigned char byte);
std::optional<unsigned char> byte_of_character(char32_t code);

/// The bytes that a text of such characters writes; none if it has another character.
std::optional<std::string> bytes_of_characters(std::string_view utf8);

inline constexpr char32_t byte_level_space = 0x120;

/// A text's UTF-8, written so. Each byte has its character's place.
Characters to_byte_characters(CharacterSpan text);

}  // namespace glassformer
