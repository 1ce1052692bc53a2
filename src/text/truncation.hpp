#pragma once

#include <cstddef>
#include <vector>

namespace glassformer {

/// The side at which a text that is too long loses tokens.
enum class TruncationSide { left, right };

/// How many tokens of each of two texts stay.
struct PairLengths {
  std::size_t first, second;

  bool operator==(const PairLengths&) const = default;
};

/// "longest_first": as if the longer text lost its last token until both together have at most
/// `room`. Of two that lose tokens and an odd room, the longer one keeps one token more; of two as
/// long as each other, the second one does (as the original library's tokenizers.json code does).
PairLengths cut_longest_first(PairLengths lengths, std::size_t room);

/// Tokens [begin, end) of a text.
struct TokenWindow {
  std::size_t begin, end;

  bool operator==(const TokenWindow&) const = default;
};

/// Windows of at most `room` tokens that cover a text of so many. Each but the first starts with
/// the last `overlap` tokens of the one before. One window, the whole text, where it fits.
/// overlap < room.
std::vector<TokenWindow> overlapping_windows(std::size_t tokens, std::size_t room,
                                             std::size_t overlap);

}  // namespace glassformer
