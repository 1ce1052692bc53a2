#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace glassformer {

/// A token of one of two texts that are aligned.
struct AlignedToken {
  std::int32_t id;
  bool special = false;     ///< has no text
  bool starts_word = true;  ///< false: continues the word of the token before it
};

/// The alignment of the tokens of two texts.
struct TokenAlignment {
  std::vector<std::optional<std::size_t>> donor_of;  ///< per token of the base; empty: unpaired
  /// A position for every token, ascending; both tokens of a pair have the same. With the texts'
  /// own positions, everything after an inserted word would appear to be changed, too.
  std::vector<std::size_t> base_columns, donor_columns;
  std::size_t columns = 0;  ///< number of positions
};

/// Pairs special tokens in order, then what two texts have in common: their first and last tokens
/// and a longest common subsequence of the rest (the leftmost if there are several). A gap with
/// equally many tokens in both texts, or equally many words (then the last token of each), is
/// paired in order, as a substitution. The rest stays unpaired.
TokenAlignment align_tokens(std::span<const AlignedToken> base,
                            std::span<const AlignedToken> donor);

/// Does the same for two texts that are continued. Their last tokens are always paired, because the
/// next token is predicted there. Both must have at least one token.
TokenAlignment align_beginnings(std::span<const AlignedToken> base,
                                std::span<const AlignedToken> donor);

}  // namespace glassformer
