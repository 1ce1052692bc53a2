#pragma once

#include <array>
#include <cstdint>

#include "families/family.hpp"

// The common parts of Llama and of families with the same architecture.

namespace glassformer {

using LlamaKeys = std::array<ConfigKey, 11>;

/// The keys of Llama's config.json, and the defaults for missing ones.
constexpr LlamaKeys llama_keys(const char* positions, const char* d_ff, const char* n_heads,
                               const char* n_kv_heads, const char* eps = "1e-6") {
  return {{
      {"vocab_size", "vocab_size", "32000"},
      {"max_position_embeddings", "max_length", positions},
      {"num_hidden_layers", "layers", "32"},
      {"hidden_size", "d_model", "4096"},
      {"intermediate_size", "d_ff", d_ff},
      {"num_attention_heads", "n_heads", n_heads},
      {"num_key_value_heads", "n_kv_heads", n_kv_heads},
      {"head_dim", "d_head", nullptr},
      {"rms_norm_eps", "layer_norm_eps", eps},
      {"hidden_act", "activation", "\"silu\""},
      {"mlp_bias", "feed_forward_bias", "false"},
  }};
}

/// The head of a model that continues texts, unless the files say otherwise.
struct DecoderDefaults {
  bool tied = false;                ///< the output matrix is the embedding table
  std::int32_t bos = -1, end = -1;  ///< -1: no such token
};

/// Returns the defaults for the stack: RMS norms, gated feed-forward blocks, no positions in the
/// embeddings.
StackConfig gated_decoder();

/// Gives every layer this rotary embedding. If its size is 0, it rotates whole heads.
void set_rotary(StackConfig& stack, const RotaryConfig& rotary);

/// Returns the window of a layer with sliding attention, without the query itself. 0: no window.
/// `usual`: `sliding_window` of a file without it.
std::size_t window_of(HubConfig& config, std::size_t usual);

/// Sets the task, the head and the tokens that begin and end a text. The stack must be read first.
void read_next_token_head(HubConfig& config, ModelConfig& model, const DecoderDefaults& defaults);

}  // namespace glassformer
