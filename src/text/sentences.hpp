#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace glassformer {

/// A sentence's range in a text, in bytes and in UTF-16 units (a byte that is not valid UTF-8
/// counts as one). It has no white space at either end.
struct SentenceRange {
  std::size_t begin, end;
  std::uint32_t start16, end16;
};

/// Splits a text into sentences. A sentence ends at every line break, and after a full stop,
/// question mark, exclamation mark or ellipsis, including closing quotes and brackets, if white
/// space and the start of a new sentence follow. A full stop does not end a sentence after a known
/// abbreviation, after an initial, between digits, or before a word in lower case. Only white space
/// is left out; a text of only white space has no sentences.
std::vector<SentenceRange> split_sentences(std::string_view text);

}  // namespace glassformer
