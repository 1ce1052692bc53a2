#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/trie.hpp"

namespace glassformer {

/// A model's tokens and their ids.
class Vocabulary {
 public:
  static constexpr std::int32_t absent = -1;

  /// Adds a token. If a text is added twice, its last id is used. An empty text is never found.
  /// Throws invalid_tokenizer for an id that is already used or far beyond all vocabularies.
  void add(std::string_view text, std::int32_t id);

  std::int32_t find(std::string_view text) const;  // `absent` if not found
  /// Returns an empty text for unused ids.
  std::string_view text(std::int32_t id) const;
  /// Returns the highest id plus one.
  std::size_t size() const { return slices_.size(); }

  /// Returns the number of different texts.
  std::size_t count() const { return count_; }

  const Trie& trie() const { return trie_; }

 private:
  struct Slice {
    std::uint32_t begin = unused, size = 0;
    static constexpr std::uint32_t unused = UINT32_MAX;
  };
  std::string texts_;
  std::vector<Slice> slices_;  // by id
  std::size_t count_ = 0;
  bool has_empty_ = false;
  Trie trie_;
};

/// Throws invalid_tokenizer if the token is not in the vocabulary.
std::int32_t find_required(const Vocabulary& vocabulary, std::string_view token);

/// Returns the ids of the tokens <0x00> to <0xFF>, if they are in the vocabulary.
std::array<std::int32_t, 256> byte_tokens(const Vocabulary& vocabulary);

}  // namespace glassformer
