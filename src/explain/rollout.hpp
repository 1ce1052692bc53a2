#pragma once

#include <vector>

#include "glassformer/attention.hpp"

namespace glassformer {

/// Attention rollout (Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers"):
/// each layer mixes a token's own state and what its heads read, one half each, Â = ½ (mean
/// over heads of A + I), and layers multiply, R = Â_L ⋯ Â_1. Returns R [tokens, tokens]: row i says
/// what token i's last state is mixed from; it sums to 1. A query that reads nothing stays itself.
/// The map is [L, H, tokens, tokens].
std::vector<float> rollout(const AttentionMap& attention);

/// The three attentions of an encoder-decoder model: [L, H, S, S], [L, H, T, T], [L, H, T, S].
struct TranslationAttention {
  const AttentionMap& encoder;
  const AttentionMap& decoder;
  const AttentionMap& cross;
};

/// The same for a decoder's rows, over the target and the source: [T, T + S], rows of 1. Each layer
/// first mixes as above; then cross-attention C mixes in the source as the encoder left it: what is
/// of the source becomes ½ source + ½ C · R_encoder, what is of the target ½ target. Ours: the
/// paper has no cross-attention.
std::vector<float> rollout(const TranslationAttention& attention);

/// Σ_i p_i R_i, [columns]: what an answer that weighs the last states of its rows by p [rows] is
/// mixed from.
std::vector<float> pooled_rollout(const std::vector<float>& rollout,
                                  const std::vector<float>& weights);

}  // namespace glassformer
