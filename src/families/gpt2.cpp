#include <array>

#include "families/family.hpp"

// GPT-2 (Radford et al. 2019), and DistilGPT-2: a decoder alone. Its matrices are stored [in, out].

namespace glassformer {
namespace {

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

ModelConfig read(HubConfig& config) {
  config.expect_flag("add_cross_attention", false);
  ModelConfig model;
  StackConfig& stack = model.architecture.decoder.emplace();
  stack.vocab_size = config.size("vocab_size", 50257);
  stack.max_length = config.size("n_positions", 1024);
  stack.layers = config.layers("n_layer", 12, "h.");
  stack.d_model = config.size("n_embd", 768);
  stack.n_heads = config.size("n_head", 12);
  stack.d_ff = config.size("n_inner", 4 * stack.d_model);
  stack.positions = PositionKind::learned;
  stack.norm = NormPlacement::pre;
  stack.layer_norm_eps = config.epsilon("layer_norm_epsilon", 1e-5f);
  stack.final_norm = true;
  stack.attention = AttentionType::causal;
  stack.attention_bias = true;
  if (!config.flag("scale_attn_weights", true)) stack.score_divisor = 1.0f;
  stack.divide_by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  stack.activation = config.activation("activation_function", "gelu_new");
  if (constexpr std::int32_t end = 50256; static_cast<std::size_t>(end) < stack.vocab_size) {
    model.generation.end_ids = {end};
    model.generation.bos_id = end;
  }
  config.read_next_token(model);
  config.finish(model);
  return model;
}

}  // namespace

extern const Family gpt2 = {.model_types = model_types,
                            .prefix = "transformer.",
                            .tensors = tensors,
                            .heads = heads,
                            .read = read,
                            .writes = true};

}  // namespace glassformer
