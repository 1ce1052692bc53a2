#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// A code point and the place in the input that it came from, in UTF-16 code units.
struct Character {
  char32_t code;
  std::uint32_t begin, end;
};

/// A text on its way from the input to the model: normalizers replace its characters, and each
/// keeps its place.
using Characters = std::vector<Character>;
using CharacterSpan = std::span<const Character>;

/// A part of a text that a pattern matched, or that lies between two matches.
struct TextPart {
  std::size_t begin, end;
  bool matched;
};

/// Reads UTF-8. Each byte that is not part of a valid character becomes U+FFFD, one unit long.
Characters read_characters(std::string_view utf8);

/// Throws too_large for a text of more than 8 MiB, of which several copies would not fit into
/// memory, each with twelve bytes for a character.
void expect_moderate(std::string_view utf8);

/// How many characters a text may become on its way to the model. A tokenizer's file can chain
/// rules that each double the text; useful rules make at most 18 characters of one.
std::size_t most_characters(CharacterSpan text);

/// Throws too_large for a text that has grown beyond that.
void expect_grown(std::size_t characters, std::size_t most);

/// The characters as UTF-8.
std::string to_utf8(CharacterSpan characters);

/// The bytes as a text in which each byte that is not part of a valid character is written as
/// vocabularies name bytes: <0xE6>.
std::string with_named_bytes(std::string_view bytes);

}  // namespace glassformer
