#include <array>

#include "families/bert.hpp"

// ALBERT (Lan et al. 2020): BERT with narrower embeddings, and layers that share their weights.

namespace glassformer {
namespace {
namespace albert_parts {

constexpr std::array albert_types = {Family::Type{"albert", "AlbertTokenizer"}};

constexpr std::array albert_tensors = {
    TensorName{"embeddings.word_embeddings", "encoder.embed_tokens"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions"},
    TensorName{"embeddings.token_type_embeddings", "encoder.embed_types"},
    TensorName{"embeddings.LayerNorm", "encoder.layernorm_embedding"},
    TensorName{"encoder.embedding_hidden_mapping_in", "encoder.embed_projection"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.attention.query",
               "encoder.layer_groups.#.self_attn.q_proj"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.attention.key",
               "encoder.layer_groups.#.self_attn.k_proj"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.attention.value",
               "encoder.layer_groups.#.self_attn.v_proj"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.attention.dense",
               "encoder.layer_groups.#.self_attn.out_proj"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.attention.LayerNorm",
               "encoder.layer_groups.#.self_attn_layer_norm"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.ffn", "encoder.layer_groups.#.fc1"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.ffn_output",
               "encoder.layer_groups.#.fc2"},
    TensorName{"encoder.albert_layer_groups.#.albert_layers.0.full_layer_layer_norm",
               "encoder.layer_groups.#.final_layer_norm"},
};

constexpr std::array albert_heads = {
    TensorName{"pooler", "head.dense"},
    TensorName{"classifier", "classifier"},
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"predictions.dense", "lm_head.dense"},
    TensorName{"predictions.LayerNorm", "lm_head.layer_norm"},
    TensorName{"predictions.decoder", "lm_head"},
    TensorName{"predictions.bias", "lm_head.bias"},
    TensorName{"predictions.decoder", "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array albert_keys = {
    ConfigKey{"vocab_size", "vocab_size", "30000"},
    ConfigKey{"max_position_embeddings", "max_length", "512"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"num_hidden_groups", "layer_groups", "1"},
    ConfigKey{"hidden_size", "d_model", "4096"},
    ConfigKey{"embedding_size", "d_embedding", "128"},
    ConfigKey{"num_attention_heads", "n_heads", "64"},
    ConfigKey{"intermediate_size", "d_ff", "16384"},
    ConfigKey{"type_vocab_size", "token_types", "2"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-12"},
    ConfigKey{"hidden_act", "activation", "\"gelu_new\""},
};

constexpr MaskedHead albert_masked = {.layer = "predictions.dense.weight",
                                      .table = "predictions.decoder.weight"};

ModelConfig read_albert(HubConfig& config) {
  if (const std::size_t inner = config.free_size("inner_group_num", 1); inner != 1) {
    config.refuse("inner_group_num", "1", std::to_string(inner));
  }
  config.expect_text("position_embedding_type", "absolute");
  config.expect_embeddings(albert_masked);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace(post_norm_stack());
  config.read(stack, {.keys = albert_keys, .layer_tensors = {}});
  config.read_head(model, {.activation = Activation::tanh}, albert_masked);
  config.finish(model);
  return model;
}

}  // namespace albert_parts
}  // namespace

extern const Family albert = {.model_types = albert_parts::albert_types,
                              .prefix = "albert.",
                              .tensors = albert_parts::albert_tensors,
                              .heads = albert_parts::albert_heads,
                              .read = albert_parts::read_albert};

}  // namespace glassformer
