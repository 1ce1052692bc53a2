#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// Sequences of token ids laid end to end, without padding. N is the sum of their lengths.
class Batch {
 public:
  /// Appends a sequence. `masked`: positions that are treated exactly as padding would be: no query
  /// attends to them and pooling skips them. Ids must lie in the vocabulary, positions in the
  /// sequence (the caller has checked both).
  void add(std::span<const std::int32_t> ids, std::span<const std::size_t> masked = {});

  std::size_t size() const { return starts_.size() - 1; }        ///< sequences
  std::size_t tokens() const { return ids_.size(); }             ///< N
  std::size_t start(std::size_t i) const { return starts_[i]; }  ///< first row of sequence i
  std::size_t length(std::size_t i) const { return starts_[i + 1] - starts_[i]; }
  std::size_t longest() const { return longest_; }

  std::span<const std::int32_t> ids() const { return ids_; }  ///< [N]
  std::span<const std::int32_t> ids(std::size_t i) const;
  /// The positions of sequence i that are not masked, ascending.
  std::span<const std::uint32_t> visible(std::size_t i) const;

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> starts_ = {0};
  std::vector<std::uint32_t> visible_;
  std::vector<std::size_t> visible_starts_ = {0};
  std::size_t longest_ = 0;
};

}  // namespace glassformer
