#pragma once

#include <vector>

#include "models/config.hpp"
#include "run/attention_map.hpp"

namespace glassformer {

/// Throws `unsupported` for a stack whose residual connections are off: the readings of this folder
/// follow them. `reading`: the name in the message.
void expect_residuals(const StackConfig& config, const char* reading);

/// Computes attention rollout (Abnar and Zuidema 2020, "Quantifying Attention Flow in
/// Transformers"): each layer is one half a token's own state and one half what its heads read, Â =
/// ½ (mean over heads of A + I), and the layers are multiplied, R = Â_L ⋯ Â_1. Returns R [tokens,
/// tokens]: row i contains the shares of all tokens in token i's last state; it sums to 1. A query
/// that reads nothing keeps its state. The map is [L, H, tokens, tokens].
std::vector<float> rollout(const AttentionMap& attention);

/// The three attentions of an encoder-decoder model: [L, H, S, S], [L, H, T, T], [L, H, T, S].
struct TranslationAttention {
  const AttentionMap& encoder;
  const AttentionMap& decoder;
  const AttentionMap& cross;
};

/// Computes rollout for a decoder's rows, over the target and the source: [T, T + S], where rows
/// sum to 1. Each layer first mixes as above. Then cross-attention C mixes in the encoder's output:
/// the source part becomes ½ source + ½ C · R_encoder, the target part ½ target. This is our
/// extension: the paper has no cross-attention.
std::vector<float> rollout(const TranslationAttention& attention);

/// Returns Σ_i p_i R_i, [columns]: the shares in an answer that weights the last states of its rows
/// by p [rows].
std::vector<float> pooled_rollout(const std::vector<float>& rollout,
                                  const std::vector<float>& weights);

}  // namespace glassformer
