#include "families/llama.hpp"

#include <algorithm>
#include <array>

#include "families/config/rope.hpp"

// Llama (Touvron et al. 2023; TinyLlama, SmolLM2), Mistral (Jiang et al. 2023), Qwen2, Qwen3 and
// SmolLM3: decoder-only models with rotary positions, RMS norms, gated feed-forward blocks and
// grouped-query attention.

namespace glassformer {
namespace {
namespace llama_parts {

constexpr std::array model_types = {
    Family::Type{"llama", "LlamaTokenizer"}, Family::Type{"mistral", "LlamaTokenizer"},
    Family::Type{"qwen2", "Qwen2Tokenizer"}, Family::Type{"qwen3", "Qwen2Tokenizer"},
    Family::Type{"smollm3", "PreTrainedTokenizerFast"}};

constexpr std::array tensors = {
    TensorName{"embed_tokens", "decoder.embed_tokens"},
    TensorName{"layers.#.input_layernorm", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"layers.#.self_attn.q_proj", "decoder.layers.#.self_attn.q_proj"},
    TensorName{"layers.#.self_attn.k_proj", "decoder.layers.#.self_attn.k_proj"},
    TensorName{"layers.#.self_attn.v_proj", "decoder.layers.#.self_attn.v_proj"},
    TensorName{"layers.#.self_attn.o_proj", "decoder.layers.#.self_attn.out_proj"},
    TensorName{"layers.#.self_attn.q_norm", "decoder.layers.#.self_attn.q_norm"},
    TensorName{"layers.#.self_attn.k_norm", "decoder.layers.#.self_attn.k_norm"},
    TensorName{"layers.#.post_attention_layernorm", "decoder.layers.#.final_layer_norm"},
    TensorName{"layers.#.mlp.gate_proj", "decoder.layers.#.fc1_gate"},
    TensorName{"layers.#.mlp.up_proj", "decoder.layers.#.fc1"},
    TensorName{"layers.#.mlp.down_proj", "decoder.layers.#.fc2"},
    TensorName{"norm", "decoder.layer_norm"},
};
constexpr std::array heads = {
    TensorName{"lm_head", "lm_head"},
    TensorName{"lm_head", "decoder.embed_tokens"},  // tied: the file may have either
};

constexpr LlamaKeys llama_defaults = llama_keys("2048", "11008", "32", nullptr);
constexpr LlamaKeys mistral_defaults = llama_keys("131072", "14336", "32", "8");
constexpr LlamaKeys qwen_defaults = llama_keys("32768", "22016", "32", "32");
constexpr LlamaKeys smollm_defaults = llama_keys("32768", "11008", "16", "4");

// The settings of a model type.
struct ModelKind {
  const LlamaKeys& keys;
  float rope_base = 10000;
  DecoderDefaults defaults = {};
};

ModelKind model_kind(std::string_view type) {
  if (type == "mistral") return {.keys = mistral_defaults, .defaults = {.bos = 1, .end = 2}};
  if (type.starts_with("qwen")) return {.keys = qwen_defaults};
  if (type == "smollm3") {
    return {.keys = smollm_defaults,
            .rope_base = 2e6f,
            .defaults = {.tied = true, .bos = 128000, .end = 128001}};
  }
  return {.keys = llama_defaults, .defaults = {.bos = 1, .end = 2}};
}

StackConfig usual_stack(HubConfig& config, std::string_view type) {
  StackConfig stack = gated_decoder();
  AttentionConfig& attention = stack.layers[0].attention;
  attention.bias = type == "qwen2" || config.flag("attention_bias", false);
  attention.out_bias = type != "qwen2" && attention.bias;
  attention.qk_norm = type == "qwen3";
  if (type == "qwen3") attention.d_head = 128;
  return stack;
}

// Sets windows for Qwen2 and Qwen3: in the layers that the file names, or in all from
// max_window_layers on.
void read_windows(HubConfig& config, StackConfig& stack) {
  const std::vector<bool> sliding = sliding_layers(config, stack.layers.size());
  const bool uses = config.flag("use_sliding_window", false);
  if (!uses && std::ranges::find(sliding, true) != sliding.end()) {
    config.object().fail("use_sliding_window",
                         "expected true with a sliding layer in layer_types, got false");
  }
  if (!uses) return;
  const std::size_t window = window_of(config, 4096), first = config.id("max_window_layers", 28);
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const bool slides = sliding.empty() ? i >= first : sliding[i];
    if (slides) stack.layers[i].attention.window = window;
  }
}

// Returns which layers of SmolLM3 use rotary positions. A list of 1 and 0 defines them, or every
// n-th layer has no positions.
std::vector<bool> rotating_layers(HubConfig& config, std::size_t layers) {
  constexpr const char* key = "no_rope_layers";
  std::vector<bool> rotates;
  const JsonValue* list = config.find(key);
  const std::size_t every = config.free_size("no_rope_layer_interval", 4);
  for (std::size_t i = 0; !list && i < layers; ++i) rotates.push_back((i + 1) % every != 0);
  if (!list) return rotates;
  if (!list->is_array() || count_entries(*list) != layers) {
    config.object().fail(key, {"an array of {} numbers, one for each layer", {layers}}, *list);
  }
  for (JsonEntries entry(*list); entry.next();) {
    const JsonValue value = entry.value();
    if (!value.is_whole() || value.whole() > 1) config.object().fail(key, "1 or 0", value);
    rotates.push_back(value.whole() == 1);
  }
  return rotates;
}

void read_smollm(HubConfig& config, StackConfig& stack) {
  const std::vector<bool> sliding = sliding_layers(config, stack.layers.size());
  if (std::ranges::find(sliding, true) != sliding.end()) {
    config.refuse("layer_types", "full attention in every layer", "\"sliding_attention\"");
  }
  if (config.find("sliding_window")) config.expect_flag("use_sliding_window", false);
  const std::vector<bool> rotates = rotating_layers(config, stack.layers.size());
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    if (!rotates[i]) stack.layers[i].attention.rotary.reset();
  }
}

ModelConfig read(HubConfig& config) {
  const std::string type = config.text("model_type", "llama");
  const ModelKind kind = model_kind(type);
  ModelConfig model;
  StackConfig& stack = model.architecture.decoder.emplace(usual_stack(config, type));
  config.read(stack, {.keys = kind.keys, .layer_tensors = "layers."});
  set_rotary(stack, read_rope(config, {.base = kind.rope_base}));
  if (type == "mistral") {
    for (LayerConfig& layer : stack.layers) layer.attention.window = window_of(config, 4096);
  }
  if (type.starts_with("qwen")) read_windows(config, stack);
  if (type == "smollm3") read_smollm(config, stack);
  read_next_token_head(config, model, kind.defaults);
  config.finish(model);
  return model;
}

}  // namespace llama_parts
}  // namespace

StackConfig gated_decoder() {
  LayerConfig layer;
  layer.mixer = Mixer::causal;
  layer.feed_forward.gated = true;
  StackConfig stack;
  stack.tokens().positions = PositionKind::none;
  stack.layer_norm.kind = NormKind::rms;
  stack.final_norm = true;
  stack.layers = {layer};
  return stack;
}

void set_rotary(StackConfig& stack, const RotaryConfig& rotary) {
  for (LayerConfig& layer : stack.layers) {
    layer.attention.rotary = rotary;
    if (rotary.size == 0) layer.attention.rotary->size = layer.attention.d_head;
  }
}

std::size_t window_of(HubConfig& config, std::size_t usual) {
  const JsonValue* window = config.object().find("sliding_window");
  if (window ? !present(window) : usual == 0) return 0;
  const std::size_t size = config.free_size("sliding_window", usual);
  if (size < 2) config.refuse("sliding_window", "at least 2", std::to_string(size));
  return size - 1;
}

void read_next_token_head(HubConfig& config, ModelConfig& model, const DecoderDefaults& defaults) {
  const std::size_t vocab_size = model.decoder().vocab_size();
  const auto has_row = [&](std::int32_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < vocab_size;
  };
  if (has_row(defaults.end)) model.generation.end_ids = {defaults.end};
  if (has_row(defaults.bos)) model.generation.bos_id = defaults.bos;
  config.read_next_token(model, defaults.tied);
  // If the file has an output matrix, the library uses it, whatever the tying setting is.
  if (config.has_tensor("lm_head.weight") && config.has_tensor("embed_tokens.weight")) {
    model.architecture.embeddings = EmbeddingSharing::separate;
  }
}

extern const Family llama = {.model_types = llama_parts::model_types,
                             .prefix = "model.",
                             .tensors = llama_parts::tensors,
                             .heads = llama_parts::heads,
                             .read = llama_parts::read,
                             .writes = true};

}  // namespace glassformer
