#pragma once

#include <cstddef>
#include <vector>

namespace glassformer {

/// The side at which a text that is too long loses tokens.
enum class TruncationSide { left, right };

/// The number of tokens to keep of each of two texts.
struct PairLengths {
  std::size_t first, second;

  bool operator==(const PairLengths&) const = default;
};

/// Truncates by the rule "longest_first": the longer text loses its last token until both together
/// have at most `room` tokens. If both lose tokens and `room` is odd, the longer text keeps one
/// token more; if they have the same length, the second one does (as in the original library's
/// tokenizers.json code).
PairLengths cut_longest_first(PairLengths lengths, std::size_t room);

/// Tokens [begin, end) of a text.
struct TokenWindow {
  std::size_t begin, end;

  bool operator==(const TokenWindow&) const = default;
};

/// Returns windows of at most `room` tokens that cover a text of `tokens` tokens. Each window
/// except the first starts with the last `overlap` tokens of the previous one. If the text fits,
/// returns one window. Requires overlap < room.
std::vector<TokenWindow> overlapping_windows(std::size_t tokens, std::size_t room,
                                             std::size_t overlap);

}  // namespace glassformer
