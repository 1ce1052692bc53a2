#pragma once

#include <array>

#include "families/family.hpp"

namespace glassformer {

/// The base model's tensors of BERT and of families that use the same names.
inline constexpr std::array bert_tensors = {
    TensorName{"embeddings.word_embeddings", "encoder.embed_tokens"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions"},
    TensorName{"embeddings.token_type_embeddings", "encoder.embed_types"},
    TensorName{"embeddings.LayerNorm", "encoder.layernorm_embedding"},
    TensorName{"encoder.layer.#.attention.self.query", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.layer.#.attention.self.key", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.layer.#.attention.self.value", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.layer.#.attention.output.dense", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.layer.#.attention.output.LayerNorm",
               "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.layer.#.intermediate.dense", "encoder.layers.#.fc1"},
    TensorName{"encoder.layer.#.output.dense", "encoder.layers.#.fc2"},
    TensorName{"encoder.layer.#.output.LayerNorm", "encoder.layers.#.final_layer_norm"},
};

/// The keys of BERT's config.json. `vocab_size` is the default for files without it.
constexpr std::array<ConfigKey, 9> bert_keys(const char* vocab_size) {
  return {{
      {"vocab_size", "vocab_size", vocab_size},
      {"max_position_embeddings", "max_length", "512"},
      {"num_hidden_layers", "layers", "12"},
      {"hidden_size", "d_model", "768"},
      {"num_attention_heads", "n_heads", "12"},
      {"intermediate_size", "d_ff", "3072"},
      {"type_vocab_size", "token_types", "2"},
      {"layer_norm_eps", "layer_norm_eps", "1e-12"},
      {"hidden_act", "activation", "\"gelu\""},
  }};
}

/// Reads BERT's stack. `keys` must outlive `config`.
void read_bert_stack(HubConfig& config, StackConfig& stack, std::span<const ConfigKey> keys);

/// Returns the defaults for the stack of BERT and its relatives: learned positions, a norm on the
/// embeddings and after every sublayer, biases everywhere.
StackConfig post_norm_stack();

}  // namespace glassformer
