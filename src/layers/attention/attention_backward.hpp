#pragma once

#include "layers/attention/attention_kind.hpp"
#include "layers/attention/relative_bias.hpp"
#include "run/tape.hpp"

namespace glassformer {

/// The gradients of one head's part of one segment. Rows are as far apart as those of its
/// HeadInput.
struct HeadGradients {
  const float* context;  ///< of its result, rows `stride` floats apart
  std::size_t stride;
  float *q, *k, *v;              ///< added to
  const RelativeBias* relative;  ///< may be null
  std::size_t head;
  float *distance_q, *distance_k;     ///< added to; null: not asked for
  HeadMap weights = {}, scores = {};  ///< set, if they are requested
};

/// Adds the gradients of queries, keys, values and of the bias, from that of the context.
///
/// With weights A, values v and the context's gradient g: ∂A = g · vᵀ, ∂v = Aᵀ · g; with scores Z,
/// ∂Z = A ⊙ (∂A - Σ_j A ⊙ ∂A), 0 for masked keys. The weights are computed again, so that no map
/// is kept from the forward pass (Dao et al. 2022, "FlashAttention", section 3.1).
void attention_backward(const AttentionKind& kind, const HeadInput& in,
                        const HeadGradients& gradients, AttentionScratch& scratch, Tape& tape);

}  // namespace glassformer
