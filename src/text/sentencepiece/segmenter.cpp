#include "text/sentencepiece/segmenter.hpp"

#include <algorithm>

namespace glassformer {
namespace {

// Returns the first U+2581 at or after `from` that follows another character.
std::size_t find_boundary(std::string_view text, std::size_t from) {
  while (true) {
    const std::size_t found = text.find(space_symbol, from);
    if (found == text.npos || !text.substr(0, found).ends_with(space_symbol)) return found;
    from = found + space_symbol.size();
  }
}

}  // namespace

WordSplitter::WordSplitter(const std::vector<Piece>& pieces)
    : splits_(std::none_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
        return piece.type == PieceType::unused ||
               find_boundary(piece.text, 1) != std::string_view::npos;
      })) {}

std::size_t WordSplitter::end_of_word(std::string_view text, std::size_t begin) const {
  return splits_ ? std::min(find_boundary(text, begin + 1), text.size()) : text.size();
}

std::size_t WordSplitter::last_word(std::string_view text) const {
  if (!splits_) return 0;
  std::size_t begin = text.rfind(space_symbol);
  if (begin == text.npos) return 0;
  while (text.substr(0, begin).ends_with(space_symbol)) begin -= space_symbol.size();
  return begin;
}

}  // namespace glassformer
