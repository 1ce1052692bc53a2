#pragma once

#include "layers/attention/config.hpp"
#include "layers/attention/relative_bias.hpp"
#include "run/run.hpp"

namespace glassformer {

/// One attention of a step of decoding: each segment is one row, and its keys lie scattered in a
/// cache, in the order of their positions.
struct RowAttention {
  const AttentionConfig& config;
  float divisor;                 ///< of the scores
  const RelativeBias* relative;  ///< null: none
  std::size_t window;            ///< keys at most this far from their query are seen; 0: all
  std::span<const RowSegment> segments;
  const float* queries;  ///< [R, E], rows `stride` floats apart
  std::size_t stride;
  KeyValueRows keys;
  View<2> context;  ///< [R, E]
};

/// context = softmax(q · kᵀ / divisor + bias) · v for every head.
void attend_rows(const RowAttention& attention, const Run& run);

}  // namespace glassformer
