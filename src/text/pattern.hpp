#pragma once

#include <cstddef>
#include <vector>

#include "text/characters.hpp"
#include "text/component.hpp"

namespace glassformer {

/// A stretch of a text, which a pattern matched or which lies between two matches.
struct Stretch {
  std::size_t begin, end;
  bool matched;
};

/// Cuts the text wherever `size_at(text, position)` says that a match of so many characters begins.
/// The stretches cover the text.
template <typename SizeAt>
std::vector<Stretch> find_matches(CharacterSpan text, const SizeAt& size_at) {
  std::vector<Stretch> stretches;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = size_at(text, i);
    if (size == 0) {
      ++i;
      continue;
    }
    if (begin < i) stretches.push_back({begin, i, false});
    stretches.push_back({i, i + size, true});
    i += size;
    begin = i;
  }
  if (begin < text.size()) stretches.push_back({begin, text.size(), false});
  return stretches;
}

/// The same for single characters.
template <typename Is>
std::vector<Stretch> find_characters(CharacterSpan text, const Is& is) {
  return find_matches(text, [&](CharacterSpan all, std::size_t i) -> std::size_t {
    return is(all[i].code) ? 1 : 0;
  });
}

/// Characters of the word that starts at `begin`, by the rules of byte-level vocabularies: English
/// clitics; letters, numbers or other characters, with the space before them; white space, whose
/// last character goes with what follows.
std::size_t byte_level_word(CharacterSpan text, std::size_t begin);

/// What a "pattern" field stands for: a text, or one of the regular expressions that are known.
class Pattern {
 public:
  static Pattern read(Component& component);

  std::vector<Stretch> find(CharacterSpan text) const;

 private:
  enum class Kind { text, spaces, white_space, byte_level };
  std::size_t size_at(CharacterSpan text, std::size_t begin) const;

  Kind kind_ = Kind::text;
  std::u32string text_;
};

}  // namespace glassformer
