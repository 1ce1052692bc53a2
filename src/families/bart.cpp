#include <array>

#include "families/marian.hpp"

// BART (Lewis et al. 2020; distilbart): an encoder and a decoder with post-norm, learned positions
// and a norm on the embeddings. Both embeddings and the output layer share one table.

namespace glassformer {
namespace {

constexpr std::array bart_types = {Family::Type{"bart", "BartTokenizer"}};

constexpr std::array bart_heads = {TensorName{"final_logits_bias", "lm_head.bias"}};

constexpr std::array bart_encoder_keys = {
    ConfigKey{"vocab_size", "vocab_size", "50265"},
    ConfigKey{"max_position_embeddings", "max_length", "1024"},
    ConfigKey{"encoder_layers", "layers", "12"},
    ConfigKey{"d_model", "d_model", "1024"},
    ConfigKey{"encoder_attention_heads", "n_heads", "16"},
    ConfigKey{"encoder_ffn_dim", "d_ff", "4096"},
    ConfigKey{"scale_embedding", "scale_embedding", "false"},
    ConfigKey{"activation_function", "activation", "\"gelu\""},
};
constexpr std::array bart_decoder_keys = {
    ConfigKey{"vocab_size", "vocab_size", "50265"},
    ConfigKey{"max_position_embeddings", "max_length", "1024"},
    ConfigKey{"decoder_layers", "layers", "12"},
    ConfigKey{"d_model", "d_model", "1024"},
    ConfigKey{"decoder_attention_heads", "n_heads", "16"},
    ConfigKey{"decoder_ffn_dim", "d_ff", "4096"},
    ConfigKey{"scale_embedding", "scale_embedding", "false"},
    ConfigKey{"activation_function", "activation", "\"gelu\""},
};

// The first rows of the table of positions are not used, and not counted in config.json.
constexpr std::size_t bart_offset = 2;

void read_bart_stack(HubConfig& config, StackConfig& stack, Mixer mixer, const StackKeys& keys) {
  LayerConfig layer;
  layer.mixer = mixer;
  layer.norm = NormPlacement::post;
  layer.attention.bias = layer.attention.out_bias = true;
  stack.input =
      TokenInput{.positions = PositionKind::learned, .position_offset = bart_offset, .norm = true};
  stack.layer_norm.eps = 1e-5f;
  stack.layers = {layer};
  config.read(stack, keys);
  stack.max_length += bart_offset;
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
  read_bart_stack(config, parts.encoder.emplace(), Mixer::full,
                  {.keys = bart_encoder_keys, .layer_tensors = "encoder.layers."});
  read_bart_stack(config, parts.decoder.emplace(), Mixer::causal,
                  {.keys = bart_decoder_keys, .layer_tensors = "decoder.layers."});
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
