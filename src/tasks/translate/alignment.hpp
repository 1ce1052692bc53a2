#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "api/tasks/translate.hpp"

namespace glassformer {

/// A word of a text.
struct Word {
  std::size_t first, last;  ///< indices of tokens, `last` included
  TextRange range;
};

/// Merges tokens into words: sequences of tokens that touch each other and are of one kind, letters
/// and digits or punctuation. Tokens without text belong to no word. `ranges`: the tokens' ranges
/// in `text`, in UTF-16 units, ascending.
std::vector<Word> words_of(std::string_view text, std::span<const TextRange> ranges);

/// Links each target word to the source words that have most of its attention: the strongest, and
/// those that have at least half as much. cross: [L, H, T, S].
std::vector<AlignmentLink> align(const AttentionMap& cross, const AlignmentOptions& options,
                                 std::span<const Word> target, std::span<const Word> source);

}  // namespace glassformer
