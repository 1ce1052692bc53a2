#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/sentencepiece/model.hpp"

namespace glassformer {

/// One piece of a normalized text. Segments follow one another without gaps.
struct Segment {
  std::int32_t id;     // unk_id if no piece matches
  std::uint32_t size;  // bytes, at least 1
};

/// Finds positions where a text can be cut into words that give the same segments as the whole
/// text. Cuts before each U+2581 that follows another character. Never cuts if a piece spans such a
/// position, or if there are unused pieces (BPE splits them into the halves it saw last, anywhere
/// in the text).
class WordSplitter {
 public:
  explicit WordSplitter(const std::vector<Piece>& pieces);

  /// Returns the end of the word that starts at `begin` < text.size().
  std::size_t end_of_word(std::string_view text, std::size_t begin) const;
  /// Returns the start of the text's last word, or 0 if it is the only one.
  std::size_t last_word(std::string_view text) const;

 private:
  bool splits_ = true;
};

/// Cuts a normalized text into pieces.
class Segmenter {
 public:
  explicit Segmenter(const std::vector<Piece>& pieces) : splitter_(pieces) {}
  virtual ~Segmenter() = default;

  /// Cuts the next whole words of a text. `score` is the sum over its pieces so far, 0 at first.
  virtual std::vector<Segment> segment(std::string_view words, float& score) const = 0;

  const WordSplitter& splitter() const { return splitter_; }

 private:
  WordSplitter splitter_;
};

}  // namespace glassformer
