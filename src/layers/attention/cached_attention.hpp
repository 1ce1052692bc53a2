#pragma once

#include "layers/attention/self_attention.hpp"

namespace glassformer {

/// Queries [R, E], rows `stride` floats apart.
struct Queries {
  const float* data;
  std::size_t stride;
};

/// context [R, E] = softmax(q · kᵀ / divisor + bias) · v of every head: each row of a step of
/// decoding over the rows of a cache that it may attend to.
void attend_cached(const AttentionShape& shape, const Queries& queries, const CachedRows& cache,
                   View<2> context, const Run& run);

}  // namespace glassformer
