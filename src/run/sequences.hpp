#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace glassformer {

/// The layout of sequences that are concatenated without padding: sequence i starts at row start(i)
/// of a matrix [N, D], where N is the sum of the lengths. Rows may stand for tokens or for patches
/// of an image.
class Sequences {
 public:
  /// Appends a sequence. `masked`: positions to treat exactly as padding: no query attends to them
  /// and pooling skips them. They must be in the sequence (the caller has checked).
  void add(std::size_t length, std::span<const std::size_t> masked = {});

  std::size_t size() const { return starts_.size() - 1; }        ///< sequences
  std::size_t tokens() const { return starts_.back(); }          ///< N
  std::size_t start(std::size_t i) const { return starts_[i]; }  ///< first row of sequence i
  std::size_t length(std::size_t i) const { return starts_[i + 1] - starts_[i]; }
  std::size_t longest() const { return longest_; }

  /// Gives every token [N] a position of its own, instead of that in its sequence: tokens that two
  /// texts have in common can have the same ones. They must be below the model's max_length.
  void set_positions(std::vector<std::size_t> positions) { positions_ = std::move(positions); }
  /// [N], or empty if every token has its position in its sequence.
  std::span<const std::size_t> positions() const { return positions_; }

  /// Returns the positions of sequence i that are not masked, ascending.
  std::span<const std::uint32_t> visible(std::size_t i) const;

 private:
  std::vector<std::size_t> starts_ = {0};
  std::vector<std::uint32_t> visible_;
  std::vector<std::size_t> visible_starts_ = {0};
  std::size_t longest_ = 0;
  std::vector<std::size_t> positions_;
};

/// Sequences of token ids.
class Batch : public Sequences {
 public:
  /// Appends a sequence; see Sequences::add. `types`: per token, the index of its text, for models
  /// that distinguish several texts; empty: all of the first text. Ids must be in the vocabulary,
  /// types must be known to the model (the caller has checked both).
  void add(std::span<const std::int32_t> ids, std::span<const std::size_t> masked = {},
           std::span<const std::int32_t> types = {});
  std::span<const std::int32_t> ids() const { return ids_; }  ///< [N]
  std::span<const std::int32_t> ids(std::size_t i) const {
    return ids().subspan(start(i), length(i));
  }
  std::span<const std::int32_t> types() const { return types_; }  ///< [N]

 private:
  std::vector<std::int32_t> ids_, types_;
};

/// A picture as a model reads it.
struct Pixels {
  std::vector<float> values;  ///< [channels, height, width]
  std::size_t height = 0, width = 0;
};

/// Pictures. Each is a sequence of patches, with or without rows before them.
class Pictures : public Sequences {
 public:
  /// Appends a picture of `rows` rows; see Sequences::add. The caller has checked its size and its
  /// number of channels.
  void add(Pixels pixels, std::size_t rows, std::span<const std::size_t> masked = {}) {
    Sequences::add(rows, masked);
    pixels_.push_back(std::move(pixels));
  }
  const Pixels& pixels(std::size_t i) const { return pixels_[i]; }

 private:
  std::vector<Pixels> pixels_;
};

}  // namespace glassformer
