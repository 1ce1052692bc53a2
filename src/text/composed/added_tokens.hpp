#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/characters.hpp"
#include "text/composed/text_normalizer.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// A token that is found in the text before the model sees it.
struct AddedToken {
  static constexpr std::int32_t unknown_id = -1;
  std::int32_t id;
  std::string content;
  bool single_word = false;  // matches only if no word character is next to it
  bool strip_left = false;   // includes the white space before it
  bool strip_right = false;  // includes the white space after it
  bool normalized = false;   // is matched in the normalized text
  bool special = false;      // decodes to no text
  std::string pattern = {};  // the text to find; set by AddedTokens
};

/// A part of a text: one added token, or the text between added tokens.
struct Fragment {
  static constexpr std::int32_t text = -1;
  Characters characters;
  std::int32_t id = text;
};

class AddedTokens {
 public:
  /// `normalizer` may be null and is only needed during the call.
  AddedTokens(std::vector<AddedToken> tokens, const TextNormalizer* normalizer);

  /// Cuts a text at the tokens that are matched in the input as it is.
  std::vector<Fragment> find_in_input(CharacterSpan text) const { return find(text, false); }
  /// Cuts a text at the tokens that are matched in the normalized text.
  std::vector<Fragment> find_in_normalized(CharacterSpan text) const { return find(text, true); }

  /// Returns the added token with this id, or null.
  const AddedToken* at(std::int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  std::vector<Fragment> find(CharacterSpan text, bool normalized) const;

  std::vector<AddedToken> tokens_;  // sorted by id
  Trie tries_[2];                   // over contents, indexed by `normalized`; values index tokens_
};

}  // namespace glassformer
