#include <array>
#include <cmath>

#include "families/config/config_fields.hpp"
#include "families/config/rope.hpp"
#include "families/llama.hpp"

// Gemma 2 and the texts of Gemma 3 (Gemma Team, 2024 and 2025): Llama's layers with scaled
// embeddings, a second norm on each sublayer's output, norms whose files hold the scale minus 1,
// and windows in most layers. Gemma 2 caps scores and logits, Gemma 3 norms queries and keys.

namespace glassformer {
namespace {
namespace gemma_parts {

constexpr std::array gemma_types = {Family::Type{"gemma2", "GemmaTokenizer"},
                                    Family::Type{"gemma3_text", "GemmaTokenizer"}};

constexpr std::array gemma_tensors = {
    TensorName{"embed_tokens", "decoder.embed_tokens"},
    TensorName{"layers.#.input_layernorm", "decoder.layers.#.self_attn_layer_norm",
               TensorLayout::minus_one},
    TensorName{"layers.#.self_attn.q_proj", "decoder.layers.#.self_attn.q_proj"},
    TensorName{"layers.#.self_attn.k_proj", "decoder.layers.#.self_attn.k_proj"},
    TensorName{"layers.#.self_attn.v_proj", "decoder.layers.#.self_attn.v_proj"},
    TensorName{"layers.#.self_attn.o_proj", "decoder.layers.#.self_attn.out_proj"},
    TensorName{"layers.#.self_attn.q_norm", "decoder.layers.#.self_attn.q_norm",
               TensorLayout::minus_one},
    TensorName{"layers.#.self_attn.k_norm", "decoder.layers.#.self_attn.k_norm",
               TensorLayout::minus_one},
    TensorName{"layers.#.post_attention_layernorm", "decoder.layers.#.self_attn_output_norm",
               TensorLayout::minus_one},
    TensorName{"layers.#.pre_feedforward_layernorm", "decoder.layers.#.final_layer_norm",
               TensorLayout::minus_one},
    TensorName{"layers.#.mlp.gate_proj", "decoder.layers.#.fc1_gate"},
    TensorName{"layers.#.mlp.up_proj", "decoder.layers.#.fc1"},
    TensorName{"layers.#.mlp.down_proj", "decoder.layers.#.fc2"},
    TensorName{"layers.#.post_feedforward_layernorm", "decoder.layers.#.fc2_output_norm",
               TensorLayout::minus_one},
    TensorName{"norm", "decoder.layer_norm", TensorLayout::minus_one},
};
constexpr std::array gemma_heads = {
    TensorName{"lm_head", "lm_head"},
    TensorName{"lm_head", "decoder.embed_tokens"},  // tied: the file may have either
};

using GemmaKeys = std::array<ConfigKey, 10>;
constexpr GemmaKeys gemma_keys(const char* vocabulary, const char* positions) {
  return {{
      {"vocab_size", "vocab_size", vocabulary},
      {"max_position_embeddings", "max_length", positions},
      {"num_hidden_layers", "layers", "26"},
      {"hidden_size", "d_model", "2304"},
      {"intermediate_size", "d_ff", "9216"},
      {"num_attention_heads", "n_heads", "8"},
      {"num_key_value_heads", "n_kv_heads", "4"},
      {"head_dim", "d_head", "256"},
      {"rms_norm_eps", "layer_norm_eps", "1e-6"},
      {"hidden_activation", "activation", "\"gelu_pytorch_tanh\""},
  }};
}
constexpr GemmaKeys gemma2_keys = gemma_keys("256000", "8192");
constexpr GemmaKeys gemma3_keys = gemma_keys("262208", "131072");

// Returns a cap, or nothing if the file says null.
std::optional<float> read_cap(HubConfig& config, const char* key, std::optional<float> usual) {
  if (!config.object().find(key)) return usual;
  const JsonValue* value = config.find(key);
  if (!value) return std::nullopt;
  return number_in(config.object(), key, *value, NumberRange::positive);
}

// The rotary embeddings of the two kinds of layers.
struct GemmaRotaries {
  RotaryConfig full, sliding;
};

GemmaRotaries read_gemma2_rotaries(HubConfig& config) {
  const RotaryConfig both = read_rope(config, RopeRules{});
  return {both, both};
}

GemmaRotaries read_gemma3_rotaries(HubConfig& config) {
  constexpr const char* key = "rope_parameters";
  float local = 10000;
  if (config.find("rope_local_base_freq")) {
    local = number_in(config.object(), "rope_local_base_freq",
                      config.object().require("rope_local_base_freq"), NumberRange::positive);
  }
  if (!config.find(key)) return {read_rope(config, {.base = 1e6f}), {.base = local}};
  if (const JsonValue* scaling = config.find("rope_scaling")) {
    config.refuse("rope_scaling", {"none in addition to {}", {key}}, describe(*scaling));
  }
  return {read_rope_of(config, "full_attention", 1e6f),
          read_rope_of(config, "sliding_attention", local)};
}

ModelConfig read_gemma(HubConfig& config) {
  const bool second = config.text("model_type", "gemma2") == "gemma2";
  config.expect_flag("use_bidirectional_attention", false);
  ModelConfig model;
  StackConfig& stack = model.architecture.decoder.emplace(gated_decoder());
  stack.tokens().scale_embedding = true;
  LayerConfig& usual = stack.layers[0];
  usual.output_norms = true;
  usual.feed_forward.bias = false;
  AttentionConfig& attention = usual.attention;
  attention.bias = attention.out_bias = config.flag("attention_bias", false);
  attention.qk_norm = !second;
  attention.score_divisor =
      std::sqrt(static_cast<float>(config.free_size("query_pre_attn_scalar", 256)));
  // The library does not use this key of Gemma 3.
  if (second) attention.score_cap = read_cap(config, "attn_logit_softcapping", 50.0f);
  config.read(stack, {.keys = second ? gemma2_keys : gemma3_keys, .layer_tensors = "layers."});

  const GemmaRotaries rotaries =
      second ? read_gemma2_rotaries(config) : read_gemma3_rotaries(config);
  const std::vector<bool> types = sliding_layers(config, stack.layers.size());
  const std::size_t every = second ? 2 : config.free_size("sliding_window_pattern", 6);
  const std::size_t window = window_of(config, 4096);
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    AttentionConfig& each = stack.layers[i].attention;
    const bool slides = types.empty() ? (i + 1) % every != 0 : types[i];
    each.window = slides ? window : 0;
    each.rotary = slides ? rotaries.sliding : rotaries.full;
    each.rotary->size = each.d_head;
  }
  read_next_token_head(config, model, {.tied = true, .bos = 2, .end = 1});
  model.architecture.head.logit_cap =
      read_cap(config, "final_logit_softcapping", second ? std::optional(30.0f) : std::nullopt);
  config.finish(model);
  return model;
}

}  // namespace gemma_parts
}  // namespace

extern const Family gemma = {.model_types = gemma_parts::gemma_types,
                             .prefix = "model.",
                             .tensors = gemma_parts::gemma_tensors,
                             .heads = gemma_parts::gemma_heads,
                             .read = gemma_parts::read_gemma,
                             .writes = true};

}  // namespace glassformer
