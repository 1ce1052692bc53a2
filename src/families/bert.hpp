#pragma once

#include <array>

#include "families/family.hpp"

namespace glassformer {

/// The base model's tensors of BERT, and of what keeps to its names.
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

/// The stack that BERT's config.json describes, and that of what keeps to its fields; `vocab_size`
/// where the file has none.
StackConfig read_bert_stack(HubConfig& config, std::size_t vocab_size);

}  // namespace glassformer
