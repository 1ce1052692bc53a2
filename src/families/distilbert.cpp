#include <array>

#include "families/family.hpp"

// DistilBERT (Sanh et al. 2019): BERT's layers, without token types and pooler.

namespace glassformer {
namespace {

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
};

ModelConfig read(HubConfig& config) {
  config.expect_embeddings("vocab_projector.weight");
  ModelConfig model;
  model.architecture.encoder = StackConfig{
      .vocab_size = config.size("vocab_size", 30522),
      .max_length = config.size("max_position_embeddings", 512),
      .layers = config.layers("n_layers", 6, "transformer.layer."),
      .d_model = config.size("dim", 768),
      .n_heads = config.size("n_heads", 12),
      .d_ff = config.size("hidden_dim", 3072),
      .positions = PositionKind::learned,
      .embedding_norm = true,
      .norm = NormPlacement::post,
      .layer_norm_eps = 1e-12f,
      .attention_bias = true,
      .activation = config.activation("activation", "gelu"),
  };
  config.read_head(model, Activation::relu);
  config.finish(model);
  return model;
}

}  // namespace

extern const Family distilbert = {.model_types = model_types,
                                  .prefix = "distilbert.",
                                  .tensors = tensors,
                                  .heads = heads,
                                  .read = read};

}  // namespace glassformer
