#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/sentencepiece/normalizer.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// A part of normalized texts that no piece extends beyond, and how often it occurs.
struct WordCount {
  std::string text;
  std::uint64_t count;
};

/// Counts the words of texts. A word ends before each U+2581 and where letters meet digits,
/// punctuation or symbols: "▁it's" has the words "▁it", "'" and "s". Letters of East Asian scripts
/// are apart from other letters.
class WordCounter {
 public:
  /// `symbols` are user-defined pieces, which are not part of any word, nor is NUL. Both must
  /// outlive the counter.
  WordCounter(const Normalizer& normalizer, const Trie& symbols)
      : normalizer_(normalizer), symbols_(symbols) {}

  /// Needs memory for a part of the text only, and for each different word.
  void add(std::string_view utf8);

  /// Returns the words in ascending order of their bytes. The counter is empty afterwards.
  std::vector<WordCount> take();

 private:
  void add_normalized(std::string_view text);
  std::size_t symbol_size(std::string_view text) const;
  std::size_t word_size(std::string_view text) const;

  const Normalizer& normalizer_;
  const Trie& symbols_;
  std::unordered_map<std::string, std::uint64_t> counts_;
};

struct CharacterCount {
  std::string_view text;  // UTF-8
  std::uint64_t count;
};

/// Returns the most frequent characters that together make up the fraction `coverage` of all, most
/// frequent first, and U+2581.
std::vector<CharacterCount> frequent_characters(const std::vector<WordCount>& words,
                                                double coverage);

/// Cuts other characters out of the words, which become shorter or fall into several.
std::vector<WordCount> keep_characters(const std::vector<WordCount>& words,
                                       const std::vector<CharacterCount>& kept);

}  // namespace glassformer
