#include <array>

#include "families/family.hpp"

// MarianMT (Junczys-Dowmunt et al. 2018; Tiedemann and Thottingal 2020, "OPUS-MT"): an encoder and
// a decoder, norms behind each part, one table of embeddings on both sides and before the output.

namespace glassformer {
namespace {

constexpr std::array model_types = {Family::Type{"marian", "MarianTokenizer"}};

constexpr std::array tensors = {
    // One table has several names, and a file may hold it under any of them, or under all.
    TensorName{"shared", "embed_tokens"},
    TensorName{"decoder.embed_tokens", "embed_tokens"},
    TensorName{"encoder.embed_tokens", "embed_tokens"},
    TensorName{"lm_head", "embed_tokens"},
    // Or there are two.
    TensorName{"encoder.embed_tokens", "encoder.embed_tokens"},
    TensorName{"decoder.embed_tokens", "decoder.embed_tokens"},
    TensorName{"lm_head", "decoder.embed_tokens"},
    TensorName{"encoder.embed_positions", "encoder.embed_positions"},
    TensorName{"decoder.embed_positions", "decoder.embed_positions"},
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

constexpr std::array heads = {TensorName{"final_logits_bias", "lm_head.bias"}};

struct Keys {
  const char *tensors, *layers, *heads, *d_ff;
};

StackConfig read_stack(HubConfig& config, const Keys& keys, std::size_t vocab_size) {
  const bool learned = config.has_tensor("encoder.embed_positions.weight") &&
                       config.has_tensor("decoder.embed_positions.weight");
  return {
      .vocab_size = vocab_size,
      .max_length = config.free_size("max_position_embeddings", 1024),
      .layers = config.layers(keys.layers, 12, keys.tensors),
      .d_model = config.size("d_model", 1024),
      .n_heads = config.size(keys.heads, 16),
      .d_ff = config.size(keys.d_ff, 4096),
      .scale_embedding = config.flag("scale_embedding", false),
      .positions = learned ? PositionKind::learned : PositionKind::sinusoidal_halves,
      .norm = NormPlacement::post,
      .layer_norm_eps = 1e-5f,
      .attention_bias = true,
      .activation = config.activation("activation_function", "gelu"),
  };
}

ModelConfig read(HubConfig& config) {
  config.expect_architecture("MarianMTModel");
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) {
    config.expect_flag(key, false);
  }
  config.expect_flag("tie_word_embeddings", true);
  const bool shared = config.flag("share_encoder_decoder_embeddings", true);
  const std::size_t source = config.size("vocab_size", 58101);
  const std::size_t target = shared ? source : config.size("decoder_vocab_size", source);

  ModelConfig model;
  model.task = Task::translation;
  model.tokenizer_template = true;
  model.generation.start_id = 58100;
  model.generation.end_ids = {0};
  config.read_generation(model.generation);
  Architecture& parts = model.architecture;
  parts.encoder = read_stack(
      config, {"encoder.layers.", "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim"},
      source);
  parts.decoder = read_stack(
      config, {"decoder.layers.", "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim"},
      target);
  parts.decoder->attention = AttentionType::causal;
  parts.embeddings = shared ? EmbeddingSharing::shared : EmbeddingSharing::tied;
  parts.head = {.kind = HeadKind::next_token, .outputs = target};
  config.finish(model);
  return model;
}

}  // namespace

extern const Family marian = {.model_types = model_types,
                              .prefix = "model.",
                              .tensors = tensors,
                              .heads = heads,
                              .read = read,
                              .two_tokenizers = true,
                              .writes = true};

}  // namespace glassformer
