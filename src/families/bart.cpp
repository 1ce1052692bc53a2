#include <array>

#include "families/linked.hpp"
#include "families/marian.hpp"

// BART (Lewis et al. 2020; distilbart): an encoder and a decoder with post-norm, learned positions
// and a norm on the embeddings. Both embeddings and the output layer share one table. mBART is the
// same with pre-norm, for many languages.

namespace glassformer {
namespace {
namespace bart_parts {

constexpr std::array bart_types = {Family::Type{"bart", "BartTokenizer"}};

constexpr std::array bart_heads = {TensorName{"final_logits_bias", "lm_head.bias"},
                                   TensorName{"classification_head.dense", "head.dense"},
                                   TensorName{"classification_head.out_proj", "classifier"}};

constexpr std::array mbart_types = {Family::Type{"mbart", "MBartTokenizer"}};

constexpr auto bart_encoder_keys = marian_encoder_keys("50265");

// The first rows of the table of positions are not used, and not counted in config.json.
constexpr std::size_t bart_offset = 2;

StackConfig bart_stack(Mixer mixer) {
  StackConfig stack = marian_stack(mixer);
  stack.input =
      TokenInput{.positions = PositionKind::learned, .position_offset = bart_offset, .norm = true};
  return stack;
}

// Reads both stacks. `pre_norm`: norms stand before the sublayers, and there is one at the end.
void read_bart_stacks(HubConfig& config, Architecture& parts, bool pre_norm = false) {
  for (const char* key : {"normalize_before", "add_final_layer_norm"}) {
    config.expect_flag(key, pre_norm);
  }
  config.expect_flag("static_position_embeddings", false);
  for (const char* key : {"normalize_embedding", "tie_word_embeddings"}) {
    config.expect_flag(key, true);
  }
  StackConfig& encoder = parts.encoder.emplace(bart_stack(Mixer::full));
  config.read(encoder, {.keys = bart_encoder_keys, .layer_tensors = "encoder.layers."});
  StackConfig& decoder = parts.decoder.emplace(bart_stack(Mixer::causal));
  decoder.tokens().vocab_size = encoder.vocab_size();
  config.read(decoder, {.keys = marian_decoder_keys, .layer_tensors = "decoder.layers."});
  for (StackConfig* stack : {&encoder, &decoder}) {
    stack->max_length += bart_offset;
    if (!pre_norm) continue;
    for (LayerConfig& layer : stack->layers) layer.norm = NormPlacement::pre;
    stack->final_norm = true;
  }
}

ModelConfig read_bart(HubConfig& config) {
  ModelConfig model;
  model.generation.start_id = 2;
  model.generation.end_ids = {2};
  Architecture& parts = model.architecture;
  read_bart_stacks(config, parts);
  parts.embeddings = EmbeddingSharing::shared;
  config.read_text_to_text(model);
  // Files may lack the bias of the logits, which is then zeros.
  parts.head.bias = config.has_tensor("final_logits_bias");
  config.finish(model);
  return model;
}

// Reads mBART (Liu et al. 2020) and mBART-50 (Tang et al. 2020), which translate.
ModelConfig read_mbart(HubConfig& config) {
  config.expect_architecture("MBartForConditionalGeneration");
  ModelConfig model;
  model.generation.start_id = 0;
  model.generation.end_ids = {2};
  Architecture& parts = model.architecture;
  read_bart_stacks(config, parts, true);
  parts.embeddings = EmbeddingSharing::shared;
  config.read_text_to_text(model);
  model.task = Task::translation;
  parts.head.bias = config.has_tensor("final_logits_bias");
  config.finish(model);
  return model;
}

// Reads a classifier: its decoder reads the same text, and its answer is that of the last token.
ModelConfig read_bart_classifier(HubConfig& config) {
  config.expect_architecture("BartForSequenceClassification");
  ModelConfig model;
  Architecture& parts = model.architecture;
  read_bart_stacks(config, parts);
  parts.embeddings = EmbeddingSharing::stacks;
  parts.start_id = config.token("decoder_start_token_id", 2);
  config.expect_end_token("eos_token_id", config.token("eos_token_id", 2));
  config.read_text_classes(model, {.activation = Activation::tanh}, Pooling::last, 3);
  config.finish(model);
  return model;
}

}  // namespace bart_parts
}  // namespace

extern const Family bart = {.model_types = bart_parts::bart_types,
                            .prefix = "model.",
                            .tensors = marian_tensors,
                            .heads = bart_parts::bart_heads,
                            .read = bart_parts::read_bart,
                            .read_reader = bart_parts::read_bart_classifier,
                            .reader = "ForSequenceClassification",
                            .writes = true};
extern const Family mbart = {.model_types = bart_parts::mbart_types,
                             .prefix = "model.",
                             .tensors = marian_tensors,
                             .heads = bart_parts::bart_heads,
                             .read = bart_parts::read_mbart,
                             .writes = true};

}  // namespace glassformer
