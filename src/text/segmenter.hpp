#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/sentencepiece_model.hpp"

namespace glassformer {

/// One piece of a normalized text; segments follow one another without gaps.
struct Segment {
  std::int32_t id;     // unk_id where no piece fits
  std::uint32_t size;  // bytes, at least 1
};

/// Where a text may be cut into words that are segmented one by one with the same result as the
/// whole: before each U+2581 that follows something else. Nowhere if a piece spans such a place, or
/// if there are unused pieces (BPE makes them of the halves it saw last, anywhere in the text).
class WordSplitter {
 public:
  explicit WordSplitter(const std::vector<Piece>& pieces);

  /// Where the word that starts at `begin` < text.size() ends.
  std::size_t end_of_word(std::string_view text, std::size_t begin) const;
  /// Where the text's last word starts; 0 if it is the only one.
  std::size_t last_word(std::string_view text) const;

 private:
  bool splits_ = true;
};

/// Cuts a normalized text into pieces.
class Segmenter {
 public:
  explicit Segmenter(const std::vector<Piece>& pieces) : splitter_(pieces) {}
  virtual ~Segmenter() = default;

  /// Cuts the next whole words of a text. `score`: of its pieces so far, 0 at first.
  virtual std::vector<Segment> segment(std::string_view words, float& score) const = 0;

  const WordSplitter& splitter() const { return splitter_; }

 private:
  WordSplitter splitter_;
};

}  // namespace glassformer
