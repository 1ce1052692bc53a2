#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "families/bert.hpp"

// DeBERTa-v2 and v3 (He et al. 2021): BERT's layers with disentangled attention. Most checkpoints
// have no other positions.

namespace glassformer {
namespace {
namespace deberta_parts {

constexpr std::array deberta_types = {Family::Type{"deberta-v2", "DebertaV2Tokenizer"}};

constexpr std::array deberta_tensors = {
    TensorName{"embeddings.word_embeddings", "encoder.embed_tokens"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions"},
    TensorName{"embeddings.token_type_embeddings", "encoder.embed_types"},
    TensorName{"embeddings.LayerNorm", "encoder.layernorm_embedding"},
    TensorName{"encoder.rel_embeddings", "encoder.relative_embeddings"},
    TensorName{"encoder.LayerNorm", "encoder.relative_embeddings.layer_norm"},
    TensorName{"encoder.layer.#.attention.self.query_proj", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.layer.#.attention.self.key_proj", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.layer.#.attention.self.value_proj", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.layer.#.attention.output.dense", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.layer.#.attention.output.LayerNorm",
               "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.layer.#.intermediate.dense", "encoder.layers.#.fc1"},
    TensorName{"encoder.layer.#.output.dense", "encoder.layers.#.fc2"},
    TensorName{"encoder.layer.#.output.LayerNorm", "encoder.layers.#.final_layer_norm"},
};

constexpr std::array deberta_heads = {
    TensorName{"pooler.dense", "head.dense"},
    TensorName{"classifier", "classifier"},
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"cls.predictions.transform.dense", "lm_head.dense"},
    TensorName{"cls.predictions.transform.LayerNorm", "lm_head.layer_norm"},
    TensorName{"cls.predictions.decoder", "lm_head"},
    TensorName{"cls.predictions.bias", "lm_head.bias"},
    TensorName{"cls.predictions.decoder",
               "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array deberta_keys = {
    ConfigKey{"vocab_size", "vocab_size", "128100"},
    ConfigKey{"num_hidden_layers", "layers", "24"},
    ConfigKey{"hidden_size", "d_model", "1536"},
    ConfigKey{"num_attention_heads", "n_heads", "24"},
    ConfigKey{"attention_head_size", "d_head", nullptr},
    ConfigKey{"intermediate_size", "d_ff", "6144"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-7"},
    ConfigKey{"hidden_act", "activation", "\"gelu\""},
};

// Without learned positions, the architecture has no maximum length: distant tokens share the last
// row. This is the limit that we offer.
constexpr std::size_t deberta_longest = 1 << 14;

// The products of pos_att_type: a list, or names separated by "|".
struct Products {
  bool content_to_position = false, position_to_content = false;

  void add(HubConfig& config, std::string_view name) {
    if (name == "c2p") {
      content_to_position = true;
    } else if (name == "p2c") {
      position_to_content = true;
    } else {
      config.refuse("pos_att_type", "\"c2p\" and \"p2c\"", describe(name));
    }
  }
};

Products read_products(HubConfig& config) {
  constexpr const char* key = "pos_att_type";
  Products products;
  const JsonValue* const value = config.find(key);
  if (!value) return products;
  if (value->is_array()) {
    for (JsonEntries entry(*value); entry.next();) {
      products.add(config, config.object().string(key, entry.value()));
    }
    return products;
  }
  const std::string names = config.text(key, "");
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find('|', at), names.size());
    products.add(config, std::string_view(names).substr(at, end - at));
    at = end + 1;
  }
  return products;
}

// Returns whether a size is set: 0 and negative numbers mean that it is not.
bool has_size(HubConfig& config, const char* key) {
  const JsonValue* const value = config.find(key);
  return value && !value->text().starts_with('-') && config.id(key, 0) > 0;
}

// Reads the norm of the table: "none" or "layer_norm".
bool read_norm(HubConfig& config) {
  const std::string norm = config.text("norm_rel_ebd", "none");
  if (norm != "none" && norm != "layer_norm") {
    config.refuse("norm_rel_ebd", "\"none\" or \"layer_norm\"", describe(norm));
  }
  return norm == "layer_norm";
}

void read_attention(HubConfig& config, StackConfig& stack) {
  const Products products = read_products(config);
  DisentangledConfig distances = {.content_to_position = products.content_to_position,
                                  .position_to_content = products.position_to_content,
                                  .norm = read_norm(config)};
  const AttentionConfig& attention = stack.layers[0].attention;
  if (!config.flag("relative_attention", false) || distances.terms() == 1) {
    if (distances.terms() == 1) return;
    // The library leaves the products out, but divides by as much.
    const float root = std::sqrt(static_cast<float>(distances.terms() * attention.d_head));
    for (LayerConfig& layer : stack.layers) layer.attention.score_divisor = root;
    return;
  }
  if (!config.flag("share_att_key", false)) config.refuse("share_att_key", "true", "false");
  const char* const most = has_size(config, "max_relative_positions") ? "max_relative_positions"
                                                                      : "max_position_embeddings";
  if (has_size(config, "position_buckets")) {
    distances.span = config.size("position_buckets", 0);
    distances.distance = config.free_size(most, 512);
    const std::size_t exact = distances.span / 2;
    if (exact == 0 || distances.distance <= exact + 1) {
      config.fail(&stack, most,
                  {"expected more than {} with position_buckets {}, which must be above 1, got {}",
                   {exact + 1, distances.span, distances.distance}});
    }
  } else {
    distances.span = config.size(most, 512);
  }
  stack.disentangled = distances;
}

// The library's own head. It cannot load that of the authors' files, lm_predictions.
constexpr MaskedHead deberta_masked = {.layer = "cls.predictions.transform.dense.weight",
                                       .table = "cls.predictions.decoder.weight"};

ModelConfig read_deberta(HubConfig& config) {
  if (has_size(config, "conv_kernel_size")) {
    config.refuse("conv_kernel_size", "0", std::to_string(config.id("conv_kernel_size", 0)));
  }
  config.expect_embeddings(deberta_masked);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace(post_norm_stack());
  stack.max_length = deberta_longest;
  if (has_size(config, "type_vocab_size")) {
    stack.tokens().token_types = config.size("type_vocab_size", 0);
  }
  config.read(stack, {.keys = deberta_keys, .layer_tensors = "encoder.layer."});
  for (const char* key : {"embedding_size", "pooler_hidden_size"}) {
    if (const std::size_t size = config.free_size(key, stack.d_model); size != stack.d_model) {
      config.refuse(key, {"hidden_size {}", {stack.d_model}}, std::to_string(size));
    }
  }
  if (config.flag("position_biased_input", true)) {
    stack.max_length = config.size("max_position_embeddings", 512);
  } else {
    stack.tokens().positions = PositionKind::none;
  }
  read_attention(config, stack);
  config.read_head(model, {.activation = config.activation("pooler_hidden_act", "gelu")},
                   deberta_masked);
  config.finish(model);
  return model;
}

}  // namespace deberta_parts
}  // namespace

extern const Family deberta = {.model_types = deberta_parts::deberta_types,
                               .prefix = "deberta.",
                               .tensors = deberta_parts::deberta_tensors,
                               .heads = deberta_parts::deberta_heads,
                               .read = deberta_parts::read_deberta};

}  // namespace glassformer
