#include <array>

#include "families/marian.hpp"

// BART (Lewis et al. 2020; distilbart): an encoder and a decoder with post-norm, learned positions
// and a norm on the embeddings. Both embeddings and the output layer share one table.

namespace glassformer {
namespace {

constexpr std::array bart_types = {Family::Type{"bart", "BartTokenizer"}};

constexpr std::array bart_heads = {TensorName{"final_logits_bias", "lm_head.bias"}};

constexpr auto bart_encoder_keys = marian_encoder_keys("50265");

// The first rows of the table of positions are not used, and not counted in config.json.
constexpr std::size_t bart_offset = 2;

StackConfig bart_stack(Mixer mixer) {
  StackConfig stack = marian_stack(mixer);
  stack.input =
      TokenInput{.positions = PositionKind::learned, .position_offset = bart_offset, .norm = true};
  return stack;
}

ModelConfig read_bart(HubConfig& config) {
  for (const char* key :
       {"normalize_before", "add_final_layer_norm", "static_position_embeddings"}) {
    config.expect_flag(key, false);
  }
  for (const char* key : {"normalize_embedding", "tie_word_embeddings"}) {
    config.expect_flag(key, true);
  }
  ModelConfig model;
  model.generation.start_id = 2;
  model.generation.end_ids = {2};
  Architecture& parts = model.architecture;
  StackConfig& encoder = parts.encoder.emplace(bart_stack(Mixer::full));
  config.read(encoder, {.keys = bart_encoder_keys, .layer_tensors = "encoder.layers."});
  StackConfig& decoder = parts.decoder.emplace(bart_stack(Mixer::causal));
  decoder.tokens().vocab_size = encoder.vocab_size();
  config.read(decoder, {.keys = marian_decoder_keys, .layer_tensors = "decoder.layers."});
  for (StackConfig* stack : {&encoder, &decoder}) stack->max_length += bart_offset;
  parts.embeddings = EmbeddingSharing::shared;
  config.read_text_to_text(model);
  // Files may lack the bias of the logits, which is then zeros.
  parts.head.bias = config.has_tensor("final_logits_bias");
  config.finish(model);
  return model;
}

}  // namespace

extern const Family bart = {.model_types = bart_types,
                            .prefix = "model.",
                            .tensors = marian_tensors,
                            .heads = bart_heads,
                            .read = read_bart,
                            .writes = true};

}  // namespace glassformer
