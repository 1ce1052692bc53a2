#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/characters.hpp"
#include "text/text_normalizer.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// A token that is found in the text before the model sees it.
struct AddedToken {
  static constexpr std::int32_t unknown_id = -1;
  std::int32_t id;
  std::string content;
  bool single_word = false;  // only where no word character is next to it
  bool strip_left = false;   // takes the white space before it
  bool strip_right = false;  // takes the white space behind it
  bool normalized = false;   // looked for in the normalized text
  bool special = false;      // stands for no text
  std::string pattern = {};  // what is looked for, which AddedTokens sets
};

/// A stretch of text that is an added token, or has none.
struct Fragment {
  static constexpr std::int32_t text = -1;
  Characters characters;
  std::int32_t id = text;
};

class AddedTokens {
 public:
  /// `normalizer`, which may be null, outlives the call only.
  AddedTokens(std::vector<AddedToken> tokens, const TextNormalizer* normalizer);

  /// Cuts a text at the tokens that are looked for in the input as it is.
  std::vector<Fragment> find_in_input(CharacterSpan text) const { return find(text, false); }
  /// And at those that are looked for in the normalized text.
  std::vector<Fragment> find_in_normalized(CharacterSpan text) const { return find(text, true); }

  /// Null if the id is none of theirs.
  const AddedToken* at(std::int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  std::vector<Fragment> find(CharacterSpan text, bool normalized) const;

  std::vector<AddedToken> tokens_;  // by id
  Trie tries_[2];                   // of contents, by `normalized`; values are indices
};

}  // namespace glassformer
