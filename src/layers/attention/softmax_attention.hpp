#pragma once

#include "layers/attention/attention_kind.hpp"

namespace glassformer {

/// Computes softmax(q · kᵀ / divisor + bias) · v of one head, over the keys within reach of each
/// query. Processes queries in blocks, so that scores stay in the cache. The whole map exists only
/// if it was requested.
void softmax_attention(const HeadInput& in, const HeadOutput& out, Reach reach,
                       AttentionScratch& scratch);

/// Does the same in 16-bit integers. Queries, keys and values are rounded to as many bits as their
/// sums allow, the weights to 1/16383 of a row's largest. It is faster than floats and gives
/// identical bits on every machine. The weights it outputs are those that were used.
void integer_softmax_attention(const HeadInput& in, const HeadOutput& out, Reach reach,
                               AttentionScratch& scratch);

}  // namespace glassformer
