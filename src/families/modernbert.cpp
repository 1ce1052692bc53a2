#include <array>

#include "families/config/rope.hpp"
#include "families/family.hpp"

// ModernBERT (Warner et al. 2024): an encoder with rotary positions. Most layers attend only to
// nearby tokens. The first layer has no norm before its attention.

namespace glassformer {
namespace {
namespace modernbert_parts {

constexpr std::array model_types = {Family::Type{"modernbert", "PreTrainedTokenizerFast"}};

constexpr std::array tensors = {
    TensorName{"embeddings.tok_embeddings", "encoder.embed_tokens"},
    TensorName{"embeddings.norm", "encoder.layernorm_embedding"},
    TensorName{"layers.#.attn_norm", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"layers.#.attn.Wqkv", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"layers.#.attn.Wqkv", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"layers.#.attn.Wqkv", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"layers.#.attn.Wo", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"layers.#.mlp_norm", "encoder.layers.#.final_layer_norm"},
    TensorName{"layers.#.mlp.Wi", "encoder.layers.#.fc1_gate"},
    TensorName{"layers.#.mlp.Wi", "encoder.layers.#.fc1"},
    TensorName{"layers.#.mlp.Wo", "encoder.layers.#.fc2"},
    TensorName{"final_norm", "encoder.layer_norm"},
};
constexpr std::array heads = {
    TensorName{"head.dense", "head.dense"},        TensorName{"head.norm", "head.layer_norm"},
    TensorName{"head.dense", "lm_head.dense"},     TensorName{"head.norm", "lm_head.layer_norm"},
    TensorName{"classifier", "classifier"},        TensorName{"decoder", "lm_head"},
    TensorName{"decoder", "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array keys = {
    ConfigKey{"vocab_size", "vocab_size", "50368"},
    ConfigKey{"max_position_embeddings", "max_length", "8192"},
    ConfigKey{"num_hidden_layers", "layers", "22"},
    ConfigKey{"hidden_size", "d_model", "768"},
    ConfigKey{"num_attention_heads", "n_heads", "12"},
    ConfigKey{"intermediate_size", "d_ff", "1152"},
    ConfigKey{"norm_eps", "layer_norm_eps", "1e-5"},
    ConfigKey{"hidden_activation", "activation", "\"gelu\""},
};

// The rotary embeddings of the two kinds of layers.
struct Rotaries {
  RotaryConfig global = {.base = 160000}, local = {.base = 10000};
};

float base_of(HubConfig& config, const char* key, float usual) {
  if (!config.object().find(key)) return usual;
  const float base = config.object().float_number(key);
  if (!(base > 0)) config.object().fail(key, "a number above 0", config.object().require(key));
  return base;
}

Rotaries read_rotaries(HubConfig& config) {
  Rotaries rotaries;
  rotaries.global.base = base_of(config, "global_rope_theta", rotaries.global.base);
  rotaries.local.base = base_of(config, "local_rope_theta", rotaries.local.base);
  if (const JsonValue* scaling = config.find("rope_scaling")) {
    config.refuse("rope_scaling", "none", describe(*scaling));
  }
  if (!config.find("rope_parameters")) return rotaries;
  rotaries.global = read_rope_of(config, "full_attention", rotaries.global.base);
  rotaries.local = read_rope_of(config, "sliding_attention", rotaries.local.base);
  return rotaries;
}

void read_layers(HubConfig& config, StackConfig& stack) {
  const Rotaries rotaries = read_rotaries(config);
  const std::vector<bool> sliding = sliding_layers(config, stack.layers.size());
  const std::size_t every = config.free_size("global_attn_every_n_layers", 3);
  const std::size_t around = config.free_size("local_attention", 128);
  const std::size_t window = config.free_size("sliding_window", around / 2);
  if (window == 0) config.refuse("local_attention", "at least 2", std::to_string(around));
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const bool local = sliding.empty() ? i % every != 0 : sliding[i];
    LayerConfig& layer = stack.layers[i];
    layer.mixer = local ? Mixer::local : Mixer::full;
    layer.attention.window = local ? window : 0;
    layer.attention.rotary = local ? rotaries.local : rotaries.global;
    layer.attention.rotary->size = layer.attention.d_head;
  }
  stack.layers[0].attention_norm = false;
}

StackConfig usual_stack() {
  LayerConfig layer;
  layer.feed_forward.gated = true;
  layer.feed_forward.bias = false;
  StackConfig stack;
  stack.tokens().positions = PositionKind::none;
  stack.tokens().norm = true;
  stack.layer_norm.bias = false;
  stack.final_norm = true;
  stack.layers = {layer};
  return stack;
}

void read_pooling(HubConfig& config, HeadConfig& head) {
  const std::string pooling = config.text("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean") {
    config.refuse("classifier_pooling", "\"cls\" or \"mean\"", describe(pooling));
  }
  head.pooling = pooling == "mean" ? Pooling::mean : Pooling::first;
}

ModelConfig read(HubConfig& config) {
  for (const char* key : {"norm_bias", "attention_bias", "mlp_bias", "classifier_bias"}) {
    config.expect_flag(key, false);
  }
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace(usual_stack());
  config.read(stack, {.keys = keys, .layer_tensors = "layers."});
  read_layers(config, stack);
  const HeadDense dense = {.activation = config.activation("classifier_activation", "gelu"),
                           .bias = false,
                           .norm = true};
  config.read_head(model, dense,
                   {.layer = "head.dense.weight",
                    .table = {},
                    .activation = dense.activation,
                    .dense_bias = false,
                    .bias = config.flag("decoder_bias", true)});
  HeadConfig& head = model.architecture.head;
  if (model.task == Task::text_classification) read_pooling(config, head);
  if (model.task == Task::token_classification) head.dense = dense;
  if (model.task == Task::question_answering) {
    config.refuse("architectures", "a classifier of texts or tokens, or a model without a head",
                  "\"ModernBertForQuestionAnswering\"");
  }
  config.finish(model);
  return model;
}

}  // namespace modernbert_parts
}  // namespace

extern const Family modernbert = {.model_types = modernbert_parts::model_types,
                                  .prefix = "model.",
                                  .tensors = modernbert_parts::tensors,
                                  .heads = modernbert_parts::heads,
                                  .read = modernbert_parts::read};

}  // namespace glassformer
