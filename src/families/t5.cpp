#include <array>

#include "base/error.hpp"
#include "families/linked.hpp"

// T5 (Raffel et al. 2020), T5 v1.1, Flan-T5, and mT5 (Xue et al. 2021): an encoder and a decoder
// with a relative position bias in attention, shared by the layers of a stack, and no other biases.
// The first T5 uses the embedding table as output matrix, after dividing the states by √d_model.

namespace glassformer {
namespace {
namespace t5_parts {

constexpr std::array model_types = {Family::Type{"t5", "T5Tokenizer"},
                                    Family::Type{"mt5", "T5Tokenizer"}};

constexpr std::array tensors = {
    // A shared table has several names. A file may hold it under any or all of them.
    TensorName{"shared", "embed_tokens"},
    TensorName{"encoder.embed_tokens", "embed_tokens"},
    TensorName{"shared", "encoder.embed_tokens"},  // for the encoder alone
    TensorName{"encoder.embed_tokens", "encoder.embed_tokens"},
    TensorName{"decoder.embed_tokens", "embed_tokens"},
    TensorName{"lm_head", "embed_tokens"},
    TensorName{"encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
               "encoder.relative_bias"},
    TensorName{"encoder.block.#.layer.0.layer_norm", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.block.#.layer.0.SelfAttention.q", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.block.#.layer.0.SelfAttention.k", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.block.#.layer.0.SelfAttention.v", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.block.#.layer.0.SelfAttention.o", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.block.#.layer.1.layer_norm", "encoder.layers.#.final_layer_norm"},
    TensorName{"encoder.block.#.layer.1.DenseReluDense.wi", "encoder.layers.#.fc1"},
    TensorName{"encoder.block.#.layer.1.DenseReluDense.wi_0", "encoder.layers.#.fc1_gate"},
    TensorName{"encoder.block.#.layer.1.DenseReluDense.wi_1", "encoder.layers.#.fc1"},
    TensorName{"encoder.block.#.layer.1.DenseReluDense.wo", "encoder.layers.#.fc2"},
    TensorName{"encoder.final_layer_norm", "encoder.layer_norm"},
    TensorName{"decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
               "decoder.relative_bias"},
    TensorName{"decoder.block.#.layer.0.layer_norm", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"decoder.block.#.layer.0.SelfAttention.q", "decoder.layers.#.self_attn.q_proj"},
    TensorName{"decoder.block.#.layer.0.SelfAttention.k", "decoder.layers.#.self_attn.k_proj"},
    TensorName{"decoder.block.#.layer.0.SelfAttention.v", "decoder.layers.#.self_attn.v_proj"},
    TensorName{"decoder.block.#.layer.0.SelfAttention.o", "decoder.layers.#.self_attn.out_proj"},
    TensorName{"decoder.block.#.layer.1.layer_norm", "decoder.layers.#.encoder_attn_layer_norm"},
    TensorName{"decoder.block.#.layer.1.EncDecAttention.q", "decoder.layers.#.encoder_attn.q_proj"},
    TensorName{"decoder.block.#.layer.1.EncDecAttention.k", "decoder.layers.#.encoder_attn.k_proj"},
    TensorName{"decoder.block.#.layer.1.EncDecAttention.v", "decoder.layers.#.encoder_attn.v_proj"},
    TensorName{"decoder.block.#.layer.1.EncDecAttention.o",
               "decoder.layers.#.encoder_attn.out_proj"},
    TensorName{"decoder.block.#.layer.2.layer_norm", "decoder.layers.#.final_layer_norm"},
    TensorName{"decoder.block.#.layer.2.DenseReluDense.wi", "decoder.layers.#.fc1"},
    TensorName{"decoder.block.#.layer.2.DenseReluDense.wi_0", "decoder.layers.#.fc1_gate"},
    TensorName{"decoder.block.#.layer.2.DenseReluDense.wi_1", "decoder.layers.#.fc1"},
    TensorName{"decoder.block.#.layer.2.DenseReluDense.wo", "decoder.layers.#.fc2"},
    TensorName{"decoder.final_layer_norm", "decoder.layer_norm"},
};

constexpr std::array heads = {TensorName{"lm_head", "lm_head"}};

// The architecture has no maximum length: distant positions share the last bucket. This is the
// limit we offer.
constexpr std::size_t longest = 1 << 14;

constexpr std::array keys = {
    ConfigKey{"vocab_size", "vocab_size", "32128"},
    ConfigKey{"num_layers", "layers", "6"},
    ConfigKey{"d_model", "d_model", "512"},
    ConfigKey{"num_heads", "n_heads", "8"},
    ConfigKey{"d_kv", "d_head", "64"},
    ConfigKey{"d_ff", "d_ff", "2048"},
    ConfigKey{"relative_attention_num_buckets", "relative_buckets", "32"},
    ConfigKey{"relative_attention_max_distance", "relative_distance", "128"},
    ConfigKey{"layer_norm_epsilon", "layer_norm_eps", "1e-6"},
};

constexpr std::array decoder_keys = {ConfigKey{"num_decoder_layers", "layers", nullptr}};

// Reads "relu" or "gated-gelu", which uses the tanh approximation of GELU.
void read_feed_forward(HubConfig& config, FeedForwardConfig& feed_forward) {
  constexpr const char* key = "feed_forward_proj";
  constexpr std::string_view gated = "gated-";
  std::string name = config.text(key, "relu");
  feed_forward.gated = name.starts_with(gated);
  if (!feed_forward.gated) {
    feed_forward.activation = config.activation(key, "relu");
    return;
  }
  const std::string activation = name.substr(gated.size());
  if (const auto found = find_activation(activation == "gelu" ? "gelu_new" : activation)) {
    feed_forward.activation = *found;
    return;
  }
  config.refuse(key, "\"relu\", \"gated-gelu\", \"gated-silu\" or another activation",
                describe(name));
}

void read_stack(HubConfig& config, StackConfig& stack) {
  LayerConfig layer;
  layer.attention.score_divisor = 1.0f;
  layer.feed_forward.bias = false;
  read_feed_forward(config, layer.feed_forward);
  stack.tokens().positions = PositionKind::relative;
  stack.max_length = longest;
  stack.layer_norm.kind = NormKind::rms;
  stack.final_norm = true;
  stack.layers = {layer};
  config.read(stack, {.keys = keys, .layer_tensors = "encoder.block."});
}

// Returns whether there is an output matrix in addition to the embedding table. A
// single matrix is the embedding table.
bool has_own_output(const HubConfig& config) {
  return config.has_tensor("lm_head.weight") &&
         (config.has_tensor("shared.weight") || config.has_tensor("embed_tokens.weight"));
}

ModelConfig read_encoder(HubConfig& config) {
  ModelConfig model;
  read_stack(config, model.architecture.encoder.emplace());
  config.read_vectors(model);
  config.finish(model);
  return model;
}

ModelConfig read(HubConfig& config) {
  if (!all_linked()) throw NotLinked();
  ModelConfig model;
  Architecture& parts = model.architecture;
  StackConfig& encoder = parts.encoder.emplace();
  read_stack(config, encoder);
  StackConfig& decoder = parts.decoder.emplace(encoder);
  config.read(decoder, {.keys = decoder_keys, .layer_tensors = "decoder.block."});
  if (!config.find("num_decoder_layers")) {
    decoder.layers.assign(encoder.layers.size(), decoder.layers[0]);
  }
  for (LayerConfig& layer : decoder.layers) layer.mixer = Mixer::causal;
  model.generation.start_id = static_cast<std::int32_t>(config.id("pad_token_id", 0));
  model.generation.end_ids = {1};
  config.read_text_to_text(model);
  // Despite its name, the tying setting only controls the scale. If the file has no output matrix,
  // the embedding table is used in either case, as in the library.
  parts.embeddings = has_own_output(config) ? EmbeddingSharing::stacks : EmbeddingSharing::shared;
  const bool scaled = config.text("model_type", "t5") == "t5";
  parts.head.scale_states =
      scaled && config.flag("scale_decoder_outputs", config.flag("tie_word_embeddings", true));
  config.finish(model);
  return model;
}

}  // namespace t5_parts
}  // namespace

extern const Family t5 = {.model_types = t5_parts::model_types,
                          .prefix = "",
                          .tensors = t5_parts::tensors,
                          .heads = t5_parts::heads,
                          .read = t5_parts::read,
                          .read_reader = t5_parts::read_encoder,
                          .reader = "EncoderModel",
                          .writes = true};

}  // namespace glassformer
