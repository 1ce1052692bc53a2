#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace glassformer {

/// A sentence's place in a text, in bytes and in UTF-16 units (a byte that is not valid UTF-8
/// counts as one). No white space at either end.
struct SentenceRange {
  std::size_t begin, end;
  std::uint32_t start16, end16;
};

/// Splits a text into sentences: after a full stop, question or exclamation mark or ellipsis and
/// the quotes and brackets that close with it, where white space and the start of a new sentence
/// follow; and at every line break. A full stop does not end a sentence after a known abbreviation,
/// an initial, between digits, or where the next word starts with a lower-case letter. Only white
/// space lies between the sentences; a text of nothing else has none.
std::vector<SentenceRange> split_sentences(std::string_view text);

}  // namespace glassformer
