#include <array>

#include "families/config/rope.hpp"
#include "families/family.hpp"

// GPT-NeoX (Black et al. 2022) and Pythia (Biderman et al. 2023): attention and feed-forward block
// read the same input, and a part of each head is rotated.

namespace glassformer {
namespace {
namespace gpt_neox_parts {

constexpr std::array gpt_neox_types = {Family::Type{"gpt_neox", "GPTNeoXTokenizer"}};

constexpr std::array gpt_neox_tensors = {
    TensorName{"embed_in", "decoder.embed_tokens"},
    TensorName{"layers.#.input_layernorm", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"layers.#.attention.query_key_value", "decoder.layers.#.self_attn.q_proj",
               TensorLayout::by_head},
    TensorName{"layers.#.attention.query_key_value", "decoder.layers.#.self_attn.k_proj",
               TensorLayout::by_head},
    TensorName{"layers.#.attention.query_key_value", "decoder.layers.#.self_attn.v_proj",
               TensorLayout::by_head},
    TensorName{"layers.#.attention.dense", "decoder.layers.#.self_attn.out_proj"},
    TensorName{"layers.#.post_attention_layernorm", "decoder.layers.#.final_layer_norm"},
    TensorName{"layers.#.mlp.dense_h_to_4h", "decoder.layers.#.fc1"},
    TensorName{"layers.#.mlp.dense_4h_to_h", "decoder.layers.#.fc2"},
    TensorName{"final_layer_norm", "decoder.layer_norm"},
};
constexpr std::array gpt_neox_heads = {
    TensorName{"embed_out", "lm_head"},
    TensorName{"embed_out", "decoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array gpt_neox_keys = {
    ConfigKey{"vocab_size", "vocab_size", "50432"},
    ConfigKey{"max_position_embeddings", "max_length", "2048"},
    ConfigKey{"num_hidden_layers", "layers", "44"},
    ConfigKey{"hidden_size", "d_model", "6144"},
    ConfigKey{"num_attention_heads", "n_heads", "64"},
    ConfigKey{"intermediate_size", "d_ff", "24576"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-5"},
    ConfigKey{"hidden_act", "activation", "\"gelu\""},
    ConfigKey{"use_parallel_residual", "parallel", "true"},
};

ModelConfig read_gpt_neox(HubConfig& config) {
  ModelConfig model;
  StackConfig& stack = model.architecture.decoder.emplace();
  stack.tokens().positions = PositionKind::none;
  stack.final_norm = true;
  LayerConfig layer;
  layer.mixer = Mixer::causal;
  layer.attention.bias = layer.attention.out_bias = config.flag("attention_bias", true);
  stack.layers = {layer};
  config.read(stack, {.keys = gpt_neox_keys, .layer_tensors = "layers."});
  const std::size_t d_head = stack.layers[0].attention.d_head;
  const RotaryConfig rotary = read_rope(config, {.size = d_head / 4,
                                                 .d_head = d_head,
                                                 .base_key = "rotary_emb_base",
                                                 .part_key = "rotary_pct"});
  for (LayerConfig& each : stack.layers) each.attention.rotary = rotary;

  if (stack.vocab_size() > 2) {
    model.generation.bos_id = 0;
    model.generation.end_ids = {2};
  }
  config.read_next_token(model, false);
  if (config.has_tensor("embed_out.weight") && config.has_tensor("embed_in.weight")) {
    model.architecture.embeddings = EmbeddingSharing::separate;
  }
  config.finish(model);
  return model;
}

}  // namespace gpt_neox_parts
}  // namespace

extern const Family gpt_neox = {.model_types = gpt_neox_parts::gpt_neox_types,
                                .prefix = "gpt_neox.",
                                .tensors = gpt_neox_parts::gpt_neox_tensors,
                                .heads = gpt_neox_parts::gpt_neox_heads,
                                .read = gpt_neox_parts::read_gpt_neox,
                                .writes = true};

}  // namespace glassformer
