#include <algorithm>
#include <array>

#include "families/config/rope.hpp"
#include "families/llama.hpp"

// Phi-3 and Phi-4-mini (Abdin et al. 2024): Llama's layers with matrices for q, k and v, and for
// gate and fc1, in one tensor each. A part of each head may be rotated.

namespace glassformer {
namespace {
namespace phi3_parts {

constexpr std::array phi3_types = {Family::Type{"phi3", "LlamaTokenizer"}};

constexpr std::array phi3_tensors = {
    TensorName{"embed_tokens", "decoder.embed_tokens"},
    TensorName{"layers.#.input_layernorm", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"layers.#.self_attn.qkv_proj", "decoder.layers.#.self_attn.q_proj"},
    TensorName{"layers.#.self_attn.qkv_proj", "decoder.layers.#.self_attn.k_proj"},
    TensorName{"layers.#.self_attn.qkv_proj", "decoder.layers.#.self_attn.v_proj"},
    TensorName{"layers.#.self_attn.o_proj", "decoder.layers.#.self_attn.out_proj"},
    TensorName{"layers.#.post_attention_layernorm", "decoder.layers.#.final_layer_norm"},
    TensorName{"layers.#.mlp.gate_up_proj", "decoder.layers.#.fc1_gate"},
    TensorName{"layers.#.mlp.gate_up_proj", "decoder.layers.#.fc1"},
    TensorName{"layers.#.mlp.down_proj", "decoder.layers.#.fc2"},
    TensorName{"norm", "decoder.layer_norm"},
};
constexpr std::array phi3_heads = {
    TensorName{"lm_head", "lm_head"},
    TensorName{"lm_head", "decoder.embed_tokens"},  // tied: the file may have either
};

constexpr LlamaKeys phi3_keys = llama_keys("4096", "8192", "32", nullptr, "1e-5");

ModelConfig read_phi3(HubConfig& config) {
  ModelConfig model;
  StackConfig& stack = model.architecture.decoder.emplace(gated_decoder());
  config.read(stack, {.keys = phi3_keys, .layer_tensors = "layers."});
  for (LayerConfig& layer : stack.layers) layer.attention.window = window_of(config, 0);
  const std::size_t d_head = stack.layers[0].attention.d_head;
  set_rotary(stack, read_rope(config, {.size = d_head, .d_head = d_head, .long_texts = true}));
  if (stack.layers[0].attention.rotary->scaling == RotaryScaling::per_pair) {
    stack.max_length = std::min(stack.max_length, first_length(config));
  }
  read_next_token_head(config, model, {.bos = 1, .end = 32000});
  config.finish(model);
  return model;
}

}  // namespace phi3_parts
}  // namespace

extern const Family phi3 = {.model_types = phi3_parts::phi3_types,
                            .prefix = "model.",
                            .tensors = phi3_parts::phi3_tensors,
                            .heads = phi3_parts::phi3_heads,
                            .read = phi3_parts::read_phi3,
                            .writes = true};

}  // namespace glassformer
