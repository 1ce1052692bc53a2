#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/word_models/word_model.hpp"

namespace glassformer {

/// Byte-pair encoding with a list of merges (Sennrich et al. 2016). Starts from characters and
/// repeatedly merges the two neighbors whose merge comes first in the list, leftmost first.
class RankedBpe final : public WordModel {
 public:
  struct Options {
    std::optional<std::string> unknown;  // if not set, unknown characters are dropped
    bool fuse_unknown = false;           // a run of unknown characters is one token
    bool byte_fallback = false;          // an unknown character becomes one token per byte
    bool ignore_merges = false;  // a word in the vocabulary becomes one token, without merges
    std::string prefix = {};     // of all characters of a word except the first ("##")
    std::string suffix = {};     // of a word's last character ("</w>")
  };
  RankedBpe(Vocabulary vocabulary, const Options& options);

  /// Adds the next merge. The joint token drops the prefix of the right one. Throws
  /// invalid_tokenizer if one of the three tokens is not in the vocabulary.
  void add_merge(std::string_view left, std::string_view right);
  /// Call this after the last merge.
  void finish_merges();

  void cut(CharacterSpan word, std::vector<WordToken>& tokens) const override;
  std::int32_t unknown() const override { return unknown_; }

 private:
  struct Merge {
    std::uint64_t pair;  // both ids
    std::uint32_t rank;
    std::int32_t id;
  };
  /// A token so far. Merging two symbols removes the right one.
  struct Symbol {
    WordToken token;
    std::int32_t previous, next;  // `none` at the ends
    bool removed = false;
  };
  /// A merge that was possible when it was found.
  struct Candidate {
    std::uint32_t rank;
    std::int32_t left, id;

    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };

  static std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
  }

  const Merge* find(std::int32_t left, std::int32_t right) const;
  std::int32_t byte_token(char byte) const { return bytes_[static_cast<unsigned char>(byte)]; }
  std::vector<Symbol> characters(CharacterSpan word) const;
  void merge(std::vector<Symbol>& symbols) const;

  Options options_;
  std::int32_t unknown_ = Vocabulary::absent;
  std::array<std::int32_t, 256> bytes_;
  std::vector<Merge> merges_;  // sorted by pair
};

}  // namespace glassformer
