#include <array>

#include "families/family.hpp"

// GPT-2 (Radford et al. 2019) and DistilGPT-2: decoder-only. Matrices are stored as [in, out].

namespace glassformer {
namespace {
namespace gpt2_parts {

constexpr std::array model_types = {Family::Type{"gpt2", "GPT2Tokenizer"}};

constexpr std::array tensors = {
    TensorName{"wte", "decoder.embed_tokens"},
    TensorName{"wpe", "decoder.embed_positions"},
    TensorName{"h.#.ln_1", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"h.#.attn.c_attn", "decoder.layers.#.self_attn.q_proj", TensorLayout::transposed},
    TensorName{"h.#.attn.c_attn", "decoder.layers.#.self_attn.k_proj", TensorLayout::transposed},
    TensorName{"h.#.attn.c_attn", "decoder.layers.#.self_attn.v_proj", TensorLayout::transposed},
    TensorName{"h.#.attn.c_proj", "decoder.layers.#.self_attn.out_proj", TensorLayout::transposed},
    TensorName{"h.#.ln_2", "decoder.layers.#.final_layer_norm"},
    TensorName{"h.#.mlp.c_fc", "decoder.layers.#.fc1", TensorLayout::transposed},
    TensorName{"h.#.mlp.c_proj", "decoder.layers.#.fc2", TensorLayout::transposed},
    TensorName{"ln_f", "decoder.layer_norm"},
};

constexpr std::array heads = {
    TensorName{"lm_head", "lm_head"},
    TensorName{"lm_head", "decoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array keys = {
    ConfigKey{"vocab_size", "vocab_size", "50257"},
    ConfigKey{"n_positions", "max_length", "1024"},
    ConfigKey{"n_layer", "layers", "12"},
    ConfigKey{"n_embd", "d_model", "768"},
    ConfigKey{"n_head", "n_heads", "12"},
    ConfigKey{"n_inner", "d_ff", nullptr},
    ConfigKey{"layer_norm_epsilon", "layer_norm_eps", "1e-5"},
    ConfigKey{"scale_attn_by_inverse_layer_idx", "divide_by_layer", "false"},
    ConfigKey{"activation_function", "activation", "\"gelu_new\""},
};

ModelConfig read(HubConfig& config) {
  config.expect_flag("add_cross_attention", false);
  ModelConfig model;
  StackConfig& stack = model.architecture.decoder.emplace();
  stack.tokens().positions = PositionKind::learned;
  stack.final_norm = true;
  LayerConfig layer;
  layer.mixer = Mixer::causal;
  layer.attention.bias = layer.attention.out_bias = true;
  if (!config.flag("scale_attn_weights", true)) layer.attention.score_divisor = 1.0f;
  stack.layers = {layer};
  config.read(stack, {.keys = keys, .layer_tensors = "h."});
  for (LayerConfig& each : stack.layers) {
    if (each.feed_forward.d_ff == 0) each.feed_forward.d_ff = 4 * stack.d_model;
  }
  if (constexpr std::int32_t end = 50256; static_cast<std::size_t>(end) < stack.vocab_size()) {
    model.generation.end_ids = {end};
    model.generation.bos_id = end;
  }
  config.read_next_token(model);
  config.finish(model);
  return model;
}

}  // namespace gpt2_parts
}  // namespace

extern const Family gpt2 = {.model_types = gpt2_parts::model_types,
                            .prefix = "transformer.",
                            .tensors = gpt2_parts::tensors,
                            .heads = gpt2_parts::heads,
                            .read = gpt2_parts::read,
                            .writes = true};

}  // namespace glassformer
