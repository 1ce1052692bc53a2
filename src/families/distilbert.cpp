#include <array>

#include "families/bert.hpp"

// DistilBERT (Sanh et al. 2019): BERT's layers, without token types and pooler.

namespace glassformer {
namespace {
namespace distilbert_parts {

constexpr std::array model_types = {Family::Type{"distilbert", "DistilBertTokenizer"}};

constexpr std::array tensors = {
    TensorName{"embeddings.word_embeddings", "encoder.embed_tokens"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions"},
    TensorName{"embeddings.LayerNorm", "encoder.layernorm_embedding"},
    TensorName{"transformer.layer.#.attention.q_lin", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"transformer.layer.#.attention.k_lin", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"transformer.layer.#.attention.v_lin", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"transformer.layer.#.attention.out_lin", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"transformer.layer.#.sa_layer_norm", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"transformer.layer.#.ffn.lin1", "encoder.layers.#.fc1"},
    TensorName{"transformer.layer.#.ffn.lin2", "encoder.layers.#.fc2"},
    TensorName{"transformer.layer.#.output_layer_norm", "encoder.layers.#.final_layer_norm"},
};

constexpr std::array heads = {
    TensorName{"pre_classifier", "head.dense"},
    TensorName{"classifier", "classifier"},
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"vocab_transform", "lm_head.dense"},
    TensorName{"vocab_layer_norm", "lm_head.layer_norm"},
    TensorName{"vocab_projector", "lm_head"},
    TensorName{"vocab_projector", "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array keys = {
    ConfigKey{"vocab_size", "vocab_size", "30522"},
    ConfigKey{"max_position_embeddings", "max_length", "512"},
    ConfigKey{"n_layers", "layers", "6"},
    ConfigKey{"dim", "d_model", "768"},
    ConfigKey{"n_heads", "n_heads", "12"},
    ConfigKey{"hidden_dim", "d_ff", "3072"},
    ConfigKey{"activation", "activation", "\"gelu\""},
};

constexpr MaskedHead masked = {.layer = "vocab_transform.weight",
                               .table = "vocab_projector.weight"};

ModelConfig read(HubConfig& config) {
  config.expect_embeddings(masked);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace(post_norm_stack());
  stack.layer_norm.eps = 1e-12f;
  config.read(stack, {.keys = keys, .layer_tensors = "transformer.layer."});
  config.read_head(model, {.activation = Activation::relu}, masked);
  config.finish(model);
  return model;
}

}  // namespace distilbert_parts
}  // namespace

extern const Family distilbert = {.model_types = distilbert_parts::model_types,
                                  .prefix = "distilbert.",
                                  .tensors = distilbert_parts::tensors,
                                  .heads = distilbert_parts::heads,
                                  .read = distilbert_parts::read};

}  // namespace glassformer
