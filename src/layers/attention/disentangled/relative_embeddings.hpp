#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "layers/attention/config.hpp"
#include "layers/embed/embedding.hpp"
#include "layers/norm/norm.hpp"
#include "run/run.hpp"

namespace glassformer {

/// The table of distances of disentangled attention, which the layers of a stack share.
class RelativeEmbeddings {
 public:
  /// `longest`: the largest number of rows in a sequence.
  RelativeEmbeddings(const DisentangledConfig& config, std::size_t d_model, std::size_t longest,
                     const NormConfig& norm);

  /// Declares `weight` [2 span, D] and, with a norm, `layer_norm`.
  void declare(const ParameterScope& scope);

  /// If the run learns, or traces or replaces `relative_embeddings`, computes them and sets
  /// run.distances to them. They belong to the caller's Arena::Scope. `rows`: of the run.
  void begin(std::size_t rows, Run& run) const;

  /// Rows of the table.
  struct Range {
    std::size_t first, count;
  };
  /// Returns the rows that sequences of this length need.
  Range range(std::size_t length) const;
  /// Writes these rows, normed, to x [range.count, D].
  void write(const Range& range, View x, const Run& run) const;

  std::size_t longest() const { return buckets_.size(); }
  const DisentangledConfig& config() const { return config_; }

  /// Returns the row of a distance, query - key.
  std::size_t row(std::ptrdiff_t distance) const {
    if (distance < 0) return config_.span - buckets_[static_cast<std::size_t>(-distance)];
    return std::min(config_.span + buckets_[static_cast<std::size_t>(distance)],
                    2 * config_.span - 1);
  }

  /// Returns how far the row of a distance of at least 0 is from that of distance 0.
  static std::size_t bucket(const DisentangledConfig& config, std::size_t distance);

 private:
  DisentangledConfig config_;
  TableEmbedding table_;
  std::unique_ptr<Norm> layer_norm_;    // may be null
  std::vector<std::int32_t> rows_;      // 0 … 2 span - 1
  std::vector<std::uint32_t> buckets_;  // by distance
};

}  // namespace glassformer
