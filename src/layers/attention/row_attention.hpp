#pragma once

#include "layers/attention/config.hpp"
#include "layers/attention/relative_bias.hpp"
#include "run/run.hpp"

namespace glassformer {

/// The attention of one decoding step. Each segment is one row. Its keys are scattered over a
/// cache, ordered by their positions.
struct RowAttention {
  const AttentionConfig& config;
  float divisor;                 ///< of the scores
  const RelativeBias* relative;  ///< may be null
  std::size_t window;            ///< maximum distance between key and query; 0: no limit
  std::span<const RowSegment> segments;
  const float* queries;  ///< [R, E], rows `stride` floats apart
  std::size_t stride;
  KeyValueRows keys;
  View context;  ///< [R, E]
};

/// context = softmax(q · kᵀ / divisor + bias) · v for every head.
void attend_rows(const RowAttention& attention, const Run& run);

}  // namespace glassformer
