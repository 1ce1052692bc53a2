#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "run/sequences.hpp"

namespace glassformer {

/// Consecutive rows of a run that attend to the same keys: a whole sequence, or one hypothesis'
/// newest token.
struct RowSegment {
  std::size_t first = 0, count = 0;  ///< rows of the run
  std::size_t position = 0;          ///< of the first row in its sequence; the others follow
  std::size_t key_base = 0;          ///< the row of the key source that index 0 of `keys` means
  std::span<const std::uint32_t> keys = {};  ///< rows of the key source, minus `key_base`
  std::size_t key_positions = 0;             ///< of the keys and of those that are hidden
};

/// Returns one segment per sequence: every token attends to its sequence's visible tokens.
/// `sequences` must outlive the segments.
inline std::vector<RowSegment> segments_of(const Sequences& sequences) {
  std::vector<RowSegment> segments;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    segments.push_back({.first = sequences.start(i),
                        .count = sequences.length(i),
                        .key_base = sequences.start(i),
                        .keys = sequences.visible(i),
                        .key_positions = sequences.length(i)});
  }
  return segments;
}

}  // namespace glassformer
