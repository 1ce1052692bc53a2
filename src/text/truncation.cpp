#include "text/truncation.hpp"

#include <algorithm>

namespace glassformer {

PairLengths cut_longest_first(PairLengths lengths, std::size_t room) {
  auto [first, second] = lengths;
  if (first + second <= room) return lengths;
  const bool first_is_longer = first > second;
  const std::size_t shorter = std::min({first, second, room / 2});
  const std::size_t longer = room - shorter;
  return first_is_longer ? PairLengths{longer, shorter} : PairLengths{shorter, longer};
}

std::vector<TokenWindow> overlapping_windows(std::size_t tokens, std::size_t room,
                                             std::size_t overlap) {
  std::vector<TokenWindow> windows{{0, std::min(tokens, room)}};
  while (windows.back().end < tokens) {
    const std::size_t begin = windows.back().end - overlap;
    windows.push_back({begin, std::min(tokens, begin + room)});
  }
  return windows;
}

}  // namespace glassformer
