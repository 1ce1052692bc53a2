#pragma once

#include <vector>

#include "explain/readings/rollout.hpp"
#include "run/attention_map.hpp"

namespace glassformer {

/// Throws `unsupported` for a stack without a relevance: with linear attention, or without residual
/// connections.
void expect_relevance(const StackConfig& config);

/// Computes the relevance of all tokens for each token's last state (Chefer et al. 2021, "Generic
/// Attention-model Explainability", equations 5 and 6): Ā = mean over heads of max(0, A ⊙ ∂y/∂A); R
/// = I, and R += Ā R in each layer. Both maps are [L, H, T, T]. Returns R - I, [T, T].
std::vector<float> relevance(const AttentionMap& weights, const AttentionMap& gradients);

/// Computes the same for a decoder's rows, over the T target and S source tokens (equations 5, 6
/// and 8 to 10). In each layer of the decoder, R_ts += Ā R_ts and R_tt += Ā R_tt; then, with Ā_c of
/// cross-attention, R_ts += R̄_ttᵀ Ā_c R̄_ss. Here R_ss is that of the encoder, and R̄ is R with the
/// rows of R - I divided by their sums. A row of zeros stays zero; the original divides by 0.
/// Returns R - I, [T, T + S].
std::vector<float> relevance(const TranslationAttention& weights,
                             const TranslationAttention& gradients);

}  // namespace glassformer
