#pragma once

#include <array>

#include "families/family.hpp"

namespace glassformer {

/// The base model's tensors of MarianMT and of families that use the same names.
inline constexpr std::array marian_tensors = {
    // A shared table has several names. A file may hold it under any or all of them.
    TensorName{"shared", "embed_tokens"},
    TensorName{"decoder.embed_tokens", "embed_tokens"},
    TensorName{"encoder.embed_tokens", "embed_tokens"},
    TensorName{"lm_head", "embed_tokens"},
    // Alternatively, there are two tables.
    TensorName{"encoder.embed_tokens", "encoder.embed_tokens"},
    TensorName{"decoder.embed_tokens", "decoder.embed_tokens"},
    TensorName{"lm_head", "decoder.embed_tokens"},
    TensorName{"encoder.embed_positions", "encoder.embed_positions"},
    TensorName{"decoder.embed_positions", "decoder.embed_positions"},
    // Only in other families than MarianMT.
    TensorName{"encoder.layernorm_embedding", "encoder.layernorm_embedding"},
    TensorName{"decoder.layernorm_embedding", "decoder.layernorm_embedding"},
    TensorName{"encoder.layer_norm", "encoder.layer_norm"},
    TensorName{"decoder.layer_norm", "decoder.layer_norm"},
    TensorName{"encoder.layers.#.self_attn.q_proj", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.layers.#.self_attn.k_proj", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.layers.#.self_attn.v_proj", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.layers.#.self_attn.out_proj", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.layers.#.self_attn_layer_norm", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.layers.#.fc1", "encoder.layers.#.fc1"},
    TensorName{"encoder.layers.#.fc2", "encoder.layers.#.fc2"},
    TensorName{"encoder.layers.#.final_layer_norm", "encoder.layers.#.final_layer_norm"},
    TensorName{"decoder.layers.#.self_attn.q_proj", "decoder.layers.#.self_attn.q_proj"},
    TensorName{"decoder.layers.#.self_attn.k_proj", "decoder.layers.#.self_attn.k_proj"},
    TensorName{"decoder.layers.#.self_attn.v_proj", "decoder.layers.#.self_attn.v_proj"},
    TensorName{"decoder.layers.#.self_attn.out_proj", "decoder.layers.#.self_attn.out_proj"},
    TensorName{"decoder.layers.#.self_attn_layer_norm", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"decoder.layers.#.encoder_attn.q_proj", "decoder.layers.#.encoder_attn.q_proj"},
    TensorName{"decoder.layers.#.encoder_attn.k_proj", "decoder.layers.#.encoder_attn.k_proj"},
    TensorName{"decoder.layers.#.encoder_attn.v_proj", "decoder.layers.#.encoder_attn.v_proj"},
    TensorName{"decoder.layers.#.encoder_attn.out_proj", "decoder.layers.#.encoder_attn.out_proj"},
    TensorName{"decoder.layers.#.encoder_attn_layer_norm",
               "decoder.layers.#.encoder_attn_layer_norm"},
    TensorName{"decoder.layers.#.fc1", "decoder.layers.#.fc1"},
    TensorName{"decoder.layers.#.fc2", "decoder.layers.#.fc2"},
    TensorName{"decoder.layers.#.final_layer_norm", "decoder.layers.#.final_layer_norm"},
};

/// The keys of MarianMT's config.json, which other families have, too. `vocab_size` is the default
/// for files without it; a decoder's is set by the family.
constexpr std::array<ConfigKey, 8> marian_encoder_keys(const char* vocab_size) {
  return {{
      {"vocab_size", "vocab_size", vocab_size},
      {"max_position_embeddings", "max_length", "1024"},
      {"encoder_layers", "layers", "12"},
      {"d_model", "d_model", "1024"},
      {"encoder_attention_heads", "n_heads", "16"},
      {"encoder_ffn_dim", "d_ff", "4096"},
      {"scale_embedding", "scale_embedding", "false"},
      {"activation_function", "activation", "\"gelu\""},
  }};
}
inline constexpr std::array marian_decoder_keys = {
    ConfigKey{"max_position_embeddings", "max_length", "1024"},
    ConfigKey{"decoder_layers", "layers", "12"},
    ConfigKey{"d_model", "d_model", "1024"},
    ConfigKey{"decoder_attention_heads", "n_heads", "16"},
    ConfigKey{"decoder_ffn_dim", "d_ff", "4096"},
    ConfigKey{"scale_embedding", "scale_embedding", "false"},
    ConfigKey{"activation_function", "activation", "\"gelu\""},
};

/// Returns the defaults for a stack: a norm after every sublayer, biases everywhere.
StackConfig marian_stack(Mixer mixer);

}  // namespace glassformer
