#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace glassformer {

/// A token of one of two texts that are laid side by side.
struct AlignedToken {
  std::int32_t id;
  bool special = false;     ///< stands for no text
  bool starts_word = true;  ///< false: it goes on with the word of the token before it
};

/// Which tokens of two texts belong together.
struct TokenAlignment {
  std::vector<std::optional<std::size_t>>
      donor_of;  ///< of each of the base's tokens; none: unpaired
  /// A position for every token, ascending, the same for both of a pair: with their own positions
  /// what follows an inserted word would pose as changed, too.
  std::vector<std::size_t> base_columns, donor_columns;
  std::size_t columns = 0;  ///< positions in all
};

/// Pairs special tokens in order, then what two texts have in common: their first and last tokens
/// and a longest common subsequence of the rest (of several the leftmost). A gap with as many
/// tokens on either side, or as many words (then the last token of each), pairs in order, as a
/// substitution. The rest is unpaired.
TokenAlignment align_tokens(std::span<const AlignedToken> base,
                            std::span<const AlignedToken> donor);

}  // namespace glassformer
