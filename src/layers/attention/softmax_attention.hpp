#pragma once

#include "layers/attention/attention_kind.hpp"

namespace glassformer {

/// softmax(q · kᵀ / divisor + bias) · v of one head, over the keys within reach of each query. A
/// block of queries at a time, so that scores stay in the cache and the whole map exists only where
/// it was asked for.
void softmax_attention(const HeadInput& in, const HeadOutput& out, Reach reach,
                       AttentionScratch& scratch);

/// The same in 16-bit integers: queries, keys and values rounded to as many bits as
/// their sums allow, the weights to 16383rds of a row's largest. Faster than floats and the same to
/// the bit on every machine; the weights handed out are those that were used.
void integer_softmax_attention(const HeadInput& in, const HeadOutput& out, Reach reach,
                               AttentionScratch& scratch);

}  // namespace glassformer
