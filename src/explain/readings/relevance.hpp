#pragma once

#include <vector>

#include "run/attention_map.hpp"

namespace glassformer {

/// Computes the relevance of all tokens for each token's last state (Chefer et al. 2021, "Generic
/// Attention-model Explainability", equations 5 and 6): Ā = mean over heads of max(0, A ⊙ ∂y/∂A); R
/// = I, and R += Ā R in each layer. Both maps are [L, H, T, T]. Returns R - I, [T, T].
std::vector<float> relevance(const AttentionMap& weights, const AttentionMap& gradients);

}  // namespace glassformer
