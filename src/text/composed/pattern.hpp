#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "text/characters.hpp"
#include "text/composed/component.hpp"
#include "text/regex/regex.hpp"

namespace glassformer {

/// Cuts the text at matches. `size_at(text, position)` returns the length of the match that begins
/// at a position. The parts cover the text.
template <typename SizeAt>
std::vector<TextPart> find_matches(CharacterSpan text, const SizeAt& size_at) {
  std::vector<TextPart> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = size_at(text, i);
    if (size == 0) {
      ++i;
      continue;
    }
    if (begin < i) parts.push_back({begin, i, false});
    parts.push_back({i, i + size, true});
    i += size;
    begin = i;
  }
  if (begin < text.size()) parts.push_back({begin, text.size(), false});
  return parts;
}

/// Cuts the text at single characters that match.
template <typename Is>
std::vector<TextPart> find_characters(CharacterSpan text, const Is& is) {
  return find_matches(text, [&](CharacterSpan all, std::size_t i) -> std::size_t {
    return is(all[i].code) ? 1 : 0;
  });
}

/// Returns the number of characters of the word at `begin`, by the rules of byte-level
/// vocabularies. A word is an English clitic; or letters, numbers or other characters with the
/// space before them; or white space, whose last character belongs to the next word.
std::size_t byte_level_word(CharacterSpan text, std::size_t begin);

/// A "pattern" field: a text or a regular expression.
class Pattern {
 public:
  static Pattern read(Component& component);

  /// Cuts the text where a match begins or ends. The parts cover the text. A match may be empty.
  std::vector<TextPart> find(CharacterSpan text) const;

 private:
  std::u32string text_;
  std::optional<Regex> regex_;
};

}  // namespace glassformer
