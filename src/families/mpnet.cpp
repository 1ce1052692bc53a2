#include <array>

#include "families/bert.hpp"

// MPNet (Song et al. 2020; all-mpnet-base-v2): BERT's layers, with learned positions that begin
// after the padding's, a bias by distance, and no token types.

namespace glassformer {
namespace {
namespace mpnet_parts {

constexpr std::array mpnet_types = {Family::Type{"mpnet", "MPNetTokenizer"}};

constexpr std::array mpnet_tensors = {
    TensorName{"embeddings.word_embeddings", "encoder.embed_tokens"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions"},
    TensorName{"embeddings.LayerNorm", "encoder.layernorm_embedding"},
    TensorName{"encoder.relative_attention_bias", "encoder.relative_bias"},
    TensorName{"encoder.layer.#.attention.attn.q", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.layer.#.attention.attn.k", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.layer.#.attention.attn.v", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.layer.#.attention.attn.o", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.layer.#.attention.LayerNorm", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.layer.#.intermediate.dense", "encoder.layers.#.fc1"},
    TensorName{"encoder.layer.#.output.dense", "encoder.layers.#.fc2"},
    TensorName{"encoder.layer.#.output.LayerNorm", "encoder.layers.#.final_layer_norm"},
};

constexpr std::array mpnet_heads = {
    TensorName{"classifier.dense", "head.dense"},
    TensorName{"classifier.out_proj", "classifier"},  // of texts
    TensorName{"classifier", "classifier"},           // of tokens
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"lm_head.dense", "lm_head.dense"},
    TensorName{"lm_head.layer_norm", "lm_head.layer_norm"},
    TensorName{"lm_head.decoder", "lm_head"},
    TensorName{"lm_head.bias", "lm_head.bias"},
    TensorName{"lm_head.decoder", "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array mpnet_keys = {
    ConfigKey{"vocab_size", "vocab_size", "30527"},
    ConfigKey{"max_position_embeddings", "max_length", "512"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"hidden_size", "d_model", "768"},
    ConfigKey{"num_attention_heads", "n_heads", "12"},
    ConfigKey{"intermediate_size", "d_ff", "3072"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-12"},
    ConfigKey{"hidden_act", "activation", "\"gelu\""},
};

// The library has these numbers in its code.
constexpr std::int32_t mpnet_padding = 1;
constexpr RelativeConfig mpnet_distances = {.buckets = 32, .distance = 128};

constexpr MaskedHead mpnet_masked = {.layer = "lm_head.dense.weight",
                                     .table = "lm_head.decoder.weight",
                                     .activation = Activation::gelu};

ModelConfig read_mpnet(HubConfig& config) {
  constexpr const char* key = "relative_attention_num_buckets";
  if (const std::size_t buckets = config.free_size(key, mpnet_distances.buckets);
      buckets != mpnet_distances.buckets) {
    config.refuse(key, "32", std::to_string(buckets));
  }
  config.expect_embeddings(mpnet_masked);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace(post_norm_stack());
  stack.relative = mpnet_distances;
  config.read(stack, {.keys = mpnet_keys, .layer_tensors = "encoder.layer."});
  stack.tokens().position_offset = mpnet_padding + 1;
  stack.tokens().padding = mpnet_padding;
  config.read_head(model, {.activation = Activation::tanh}, mpnet_masked);
  config.finish(model);
  return model;
}

}  // namespace mpnet_parts
}  // namespace

extern const Family mpnet = {.model_types = mpnet_parts::mpnet_types,
                             .prefix = "mpnet.",
                             .tensors = mpnet_parts::mpnet_tensors,
                             .heads = mpnet_parts::mpnet_heads,
                             .read = mpnet_parts::read_mpnet};

}  // namespace glassformer
