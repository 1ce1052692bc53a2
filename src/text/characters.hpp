#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// A code point and its position in the input, in UTF-16 code units.
struct Character {
  char32_t code;
  std::uint32_t begin, end;
};

/// A text between the input and the model. Normalizers replace characters; each replacement keeps
/// its position.
using Characters = std::vector<Character>;
using CharacterSpan = std::span<const Character>;

/// A part of a text: a match of a pattern, or the text between two matches.
struct TextPart {
  std::size_t begin, end;
  bool matched;
};

/// Reads UTF-8. Each byte that is not part of a valid character becomes U+FFFD, one unit long.
Characters read_characters(std::string_view utf8);

/// Throws too_large for a text of more than 8 MiB. Several copies of it, at twelve bytes per
/// character, would not fit into memory.
void expect_moderate(std::string_view utf8);

/// Returns the maximum number of characters that a text may grow to before it reaches the model. A
/// tokenizer file can chain rules that each double the text; useful rules turn one character into
/// at most 18.
std::size_t most_characters(CharacterSpan text);

/// Throws too_large if `characters` exceeds `most`, the maximum from most_characters().
void expect_grown(std::size_t characters, std::size_t most);

/// Converts characters to UTF-8.
std::string to_utf8(CharacterSpan characters);

/// Replaces each byte that is not part of a valid character by its name in vocabularies: <0xE6>.
std::string with_named_bytes(std::string_view bytes);

}  // namespace glassformer
