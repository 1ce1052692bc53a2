#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "text/characters.hpp"
#include "text/component.hpp"
#include "text/regex/regex.hpp"

namespace glassformer {

/// Cuts the text wherever `size_at(text, position)` says that a match of so many characters begins.
/// The parts cover the text.
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

/// The same for single characters.
template <typename Is>
std::vector<TextPart> find_characters(CharacterSpan text, const Is& is) {
  return find_matches(text, [&](CharacterSpan all, std::size_t i) -> std::size_t {
    return is(all[i].code) ? 1 : 0;
  });
}

/// Characters of the word that starts at `begin`, by the rules of byte-level vocabularies: English
/// clitics; letters, numbers or other characters, with the space before them; white space, whose
/// last character goes with what follows.
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
