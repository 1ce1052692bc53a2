#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/training/word_counts.hpp"

namespace glassformer {

/// A part of a word, and how often it occurs in the texts.
struct Substring {
  std::string_view text;
  std::size_t length;  // code points
  std::uint64_t count;
};

/// Returns the `most` substrings with the highest product of count and length, highest first. They
/// have 2 to `longest` code points and occur at least twice. A substring that is always followed by
/// the same character is left out, because the longer one replaces it.
///
/// Sorts the suffixes of all words, which takes 8 bytes of memory per character. `words` must
/// outlive the result.
std::vector<Substring> frequent_substrings(const std::vector<WordCount>& words, std::size_t longest,
                                           std::size_t most);

}  // namespace glassformer
