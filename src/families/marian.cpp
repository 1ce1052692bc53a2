#include "families/marian.hpp"

#include <array>

// MarianMT (Junczys-Dowmunt et al. 2018; Tiedemann and Thottingal 2020, "OPUS-MT"): an encoder and
// a decoder with post-norm. Both embeddings and the output layer share one table.

namespace glassformer {
namespace {
namespace marian_parts {

constexpr std::array model_types = {Family::Type{"marian", "MarianTokenizer"}};

constexpr std::array heads = {TensorName{"final_logits_bias", "lm_head.bias"}};

constexpr auto encoder_keys = marian_encoder_keys("58101");

StackConfig usual_stack(const HubConfig& config, Mixer mixer) {
  const bool learned = config.has_tensor("encoder.embed_positions.weight") &&
                       config.has_tensor("decoder.embed_positions.weight");
  StackConfig stack = marian_stack(mixer);
  stack.tokens().positions = learned ? PositionKind::learned : PositionKind::sinusoidal_halves;
  return stack;
}

ModelConfig read(HubConfig& config) {
  config.expect_architecture("MarianMTModel");
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) {
    config.expect_flag(key, false);
  }
  config.expect_flag("tie_word_embeddings", true);
  const bool shared = config.flag("share_encoder_decoder_embeddings", true);

  ModelConfig model;
  model.task = Task::translation;
  model.tokenizer_template = true;
  model.generation.start_id = 58100;
  model.generation.end_ids = {0};
  config.read_generation(model.generation);
  Architecture& parts = model.architecture;
  StackConfig& encoder = parts.encoder.emplace(usual_stack(config, Mixer::full));
  config.read(encoder, {.keys = encoder_keys, .layer_tensors = "encoder.layers."});
  StackConfig& decoder = parts.decoder.emplace(usual_stack(config, Mixer::causal));
  const std::size_t source = encoder.vocab_size();
  const std::size_t target = shared ? source : config.size("decoder_vocab_size", source);
  decoder.tokens().vocab_size = target;
  config.read(decoder, {.keys = marian_decoder_keys, .layer_tensors = "decoder.layers."});
  parts.embeddings = shared ? EmbeddingSharing::shared : EmbeddingSharing::tied;
  parts.head = {.kind = HeadKind::next_token, .outputs = target};
  config.finish(model);
  return model;
}

}  // namespace marian_parts
}  // namespace

StackConfig marian_stack(Mixer mixer) {
  LayerConfig layer;
  layer.mixer = mixer;
  layer.norm = NormPlacement::post;
  layer.attention.bias = layer.attention.out_bias = true;
  StackConfig stack;
  stack.layer_norm.eps = 1e-5f;
  stack.layers = {layer};
  return stack;
}

extern const Family marian = {.model_types = marian_parts::model_types,
                              .prefix = "model.",
                              .tensors = marian_tensors,
                              .heads = marian_parts::heads,
                              .read = marian_parts::read,
                              .two_tokenizers = true,
                              .writes = true};

}  // namespace glassformer
