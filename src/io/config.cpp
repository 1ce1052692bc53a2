#include "io/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "error.hpp"
#include "io/json.hpp"
#include "io/json_writer.hpp"
#include "io/limits.hpp"

namespace glassformer {
namespace {

constexpr std::uint64_t format_version = 1;
// An architecture and the task that it does.
struct Kind {
  const char* model_type;
  const char* task;
};
constexpr Kind classifier = {"encoder_classifier", "text-classification"};
constexpr Kind translator = {"encoder_decoder", "translation"};

constexpr std::uint64_t max_vocab_size = 1 << 24;
constexpr std::uint64_t max_width = 1 << 16;   // d_model, d_ff
constexpr std::uint64_t max_length = 1 << 20;  // tokens
constexpr std::uint64_t max_layers = 1 << 10;
constexpr std::uint64_t max_labels = 1 << 16;
constexpr std::uint64_t max_special_tokens = 64;
constexpr std::uint64_t max_matrix_elements = 1 << 28;

// The names of an enumeration's values in the file, in the order of its definition.
template <typename Enum>
constexpr std::array<const char*, 0> names_of{};
template <>
constexpr std::array names_of<PositionKind>{"sinusoidal", "learned"};
template <>
constexpr std::array names_of<NormPlacement>{"pre", "post"};
template <>
constexpr std::array names_of<LayerNormKind>{"standard", "unbiased"};
template <>
constexpr std::array names_of<AttentionType>{"full", "local", "linear"};
template <>
constexpr std::array names_of<Activation>{"relu", "gelu"};
template <>
constexpr std::array names_of<Pooling>{"mean", "first"};
template <>
constexpr std::array names_of<Clip>{"end", "middle"};
template <>
constexpr std::array names_of<EmbeddingSharing>{"shared", "tied", "separate"};

template <typename Enum>
const char* name_of(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

template <typename Enum>
Enum choice(JsonObject& object, const char* key) {
  const JsonValue& value = object.require(key);
  std::string expected = "one of";
  for (std::size_t i = 0; i < names_of<Enum>.size(); ++i) {
    if (value.is_string() && value.string() == names_of<Enum>[i]) return static_cast<Enum>(i);
    expected += (i == 0 ? " \"" : ", \"") + std::string(names_of<Enum>[i]) + "\"";
  }
  object.fail(key, expected, value);
}

std::size_t size(JsonObject& object, const char* key, std::uint64_t max) {
  return static_cast<std::size_t>(object.integer(key, 1, max));
}

std::vector<std::string> strings(JsonObject& object, const char* key, std::uint64_t max_count) {
  const JsonValue& value = object.require(key);
  if (!value.is_array() || count_entries(value) > max_count) {
    object.fail(key, "an array of at most " + std::to_string(max_count) + " strings", value);
  }
  std::vector<std::string> result;
  for (JsonEntries entry(value); entry.next();) {
    if (!entry.value().is_string() || result.emplace_back(entry.value().string()).empty()) {
      object.fail(key, "an array of nonempty strings", value);
    }
  }
  return result;
}

// U+0000 … U+001F, U+007F … U+009F, and the separators of lines and paragraphs.
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const std::string_view rest = text.substr(i);
    if (byte == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0) return true;
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) return true;
  }
  return false;
}

std::vector<std::string> labels(JsonObject& object) {
  std::vector<std::string> result = strings(object, "labels", max_labels);
  if (result.empty()) object.fail("labels", "expected at least one label, got none");
  std::set<std::string_view> seen;
  for (const std::string& label : result) {
    if (has_control_character(label)) {  // which would break the lines that answers are printed on
      object.fail("labels", "expected no control characters, got " + describe(label));
    }
    if (!seen.insert(label).second) {
      object.fail("labels", "expected different labels, got " + describe(label) + " twice");
    }
  }
  return result;
}

float epsilon(JsonObject& object, const char* key) {
  const double value = object.number(key);
  const float result = value > 0 && value <= 1 ? static_cast<float>(value) : 0;
  if (!(result > 0)) object.fail(key, "a number above 0, at most 1", *object.find(key));
  return result;
}

std::string text(JsonObject& object, const char* key) {
  const std::string result = object.string(key);
  if (result.empty()) object.fail(key, "a nonempty string", *object.find(key));
  return result;
}

// Version, architecture and task say whether the rest can be read at all, so they come first.
Kind kind(JsonObject& object) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t format = object.integer("format", 0, any);
  if (format != format_version) {
    throw Error(ErrorCode::unsupported, "config.json: format: expected " +
                                            std::to_string(format_version) + ", got " +
                                            std::to_string(format));
  }
  const std::string model_type = object.string("model_type");
  const std::string task = object.string("task");
  for (const Kind& known : {classifier, translator}) {
    if (model_type != known.model_type) continue;
    if (task == known.task) return known;
    throw Error(ErrorCode::wrong_task, "config.json: task: expected \"" + std::string(known.task) +
                                           "\", that of model_type \"" + model_type + "\", got " +
                                           describe(task));
  }
  throw Error(ErrorCode::unsupported,
              "config.json: model_type: expected one of \"" + std::string(classifier.model_type) +
                  "\", \"" + translator.model_type + "\", got " + describe(model_type));
}

void check_matrix(const JsonObject& object, std::pair<const char*, std::size_t> rows,
                  std::pair<const char*, std::size_t> columns) {
  const std::uint64_t elements = std::uint64_t{rows.second} * columns.second;
  if (elements > max_matrix_elements) {
    object.fail(rows.first, "expected at most " + std::to_string(max_matrix_elements) +
                                " elements in a matrix with " + columns.first + ", got " +
                                std::to_string(elements));
  }
}

void check_together(const JsonObject& object, const ModelConfig& config) {
  if (config.d_model % config.n_heads != 0) {
    object.fail("n_heads", "expected a divisor of d_model " + std::to_string(config.d_model) +
                               ", got " + std::to_string(config.n_heads));
  }
  if (config.positions == PositionKind::sinusoidal && config.d_model % 2 != 0) {
    object.fail("d_model", "expected an even number for sinusoidal positions, got " +
                               std::to_string(config.d_model));
  }
  const std::pair d_model("d_model", config.d_model);
  check_matrix(object, d_model, d_model);
  check_matrix(object, {"d_ff", config.d_ff}, d_model);
  check_matrix(object, {"max_source_length", config.max_source_length}, d_model);
  if (config.is_translation()) {
    check_matrix(object, {"source_vocab_size", config.vocab_size}, d_model);
    check_matrix(object, {"target_vocab_size", config.target_vocab_size}, d_model);
    check_matrix(object, {"max_target_length", config.max_target_length}, d_model);
    if (config.embeddings == EmbeddingSharing::shared &&
        config.target_vocab_size != config.vocab_size) {
      object.fail("target_vocab_size", "expected source_vocab_size " +
                                           std::to_string(config.vocab_size) +
                                           " with \"embeddings\": \"shared\", got " +
                                           std::to_string(config.target_vocab_size));
    }
  } else {
    check_matrix(object, {"vocab_size", config.vocab_size}, d_model);
    check_matrix(object, {"labels", config.labels.size()}, d_model);
  }
  const std::size_t special = config.prefix_tokens.size() + config.suffix_tokens.size();
  if (config.max_source_length <= special) {
    object.fail("max_source_length", "expected more than the " + std::to_string(special) +
                                         " prefix and suffix tokens, got " +
                                         std::to_string(config.max_source_length));
  }
}

void read_classifier(JsonObject& object, ModelConfig& config) {
  config.labels = labels(object);
  config.vocab_size = size(object, "vocab_size", max_vocab_size);
  config.pooling = choice<Pooling>(object, "pooling");
  config.clip = choice<Clip>(object, "clip");
}

void read_translator(JsonObject& object, ModelConfig& config) {
  config.source_language = text(object, "source_language");
  config.target_language = text(object, "target_language");
  config.vocab_size = size(object, "source_vocab_size", max_vocab_size);
  config.target_vocab_size = size(object, "target_vocab_size", max_vocab_size);
  config.embeddings = choice<EmbeddingSharing>(object, "embeddings");
  config.decoder_layers = size(object, "decoder_layers", max_layers);
  config.max_target_length = size(object, "max_target_length", max_length);
  config.lm_head_bias = object.boolean("lm_head_bias");
  config.start_token = text(object, "start_token");
  config.end_token = text(object, "end_token");
}

}  // namespace

ModelConfig parse_config(std::string_view json) {
  expect_within(config_limit, json.size());
  const JsonSource source{config_limit.code, config_limit.name};
  JsonObject object(parse_json(json, source), source);
  const Kind kind_of_model = kind(object);

  ModelConfig config;
  config.model_type = kind_of_model.model_type;
  config.task = kind_of_model.task;
  if (config.is_translation()) {
    read_translator(object, config);
  } else {
    read_classifier(object, config);
  }
  config.d_model = size(object, "d_model", max_width);
  config.d_ff = size(object, "d_ff", max_width);
  config.n_heads = size(object, "n_heads", max_width);
  config.encoder_layers = size(object, "encoder_layers", max_layers);
  config.max_source_length = size(object, "max_source_length", max_length);
  config.positions = choice<PositionKind>(object, "positions");
  config.scale_embedding = object.boolean("scale_embedding");
  config.norm = choice<NormPlacement>(object, "norm");
  config.layer_norm = choice<LayerNormKind>(object, "layer_norm");
  config.layer_norm_eps = epsilon(object, "layer_norm_eps");
  config.final_norm = object.boolean("final_norm");
  config.attention = choice<AttentionType>(object, "attention");
  if (config.attention == AttentionType::local) {
    config.attention_window = size(object, "attention_window", max_length);
  } else if (const JsonValue* window = object.find("attention_window")) {
    object.fail("attention_window", "only with \"attention\": \"local\", got " + describe(*window));
  }
  config.attention_bias = object.boolean("attention_bias");
  config.activation = choice<Activation>(object, "activation");
  config.prefix_tokens = strings(object, "prefix_tokens", max_special_tokens);
  config.suffix_tokens = strings(object, "suffix_tokens", max_special_tokens);
  object.finish();
  check_together(object, config);
  return config;
}

ModelConfig expect_task(ModelConfig config, std::string_view task) {
  if (config.task != task) {
    throw Error(ErrorCode::wrong_task, "config.json: task: expected \"" + std::string(task) +
                                           "\", got " + describe(config.task));
  }
  return config;
}

std::string to_json(const ModelConfig& config) {
  JsonWriter json(JsonWriter::Layout::lines);
  const auto strings = [&](const char* key, const std::vector<std::string>& values) {
    json.key(key);
    json.array(values, [&](const std::string& value) { json.value(value); });
  };
  json.object([&] {
    json.field("format", format_version);
    json.field("model_type", config.model_type);
    json.field("task", config.task);
    if (config.is_translation()) {
      json.field("source_language", config.source_language);
      json.field("target_language", config.target_language);
      json.field("source_vocab_size", config.vocab_size);
      json.field("target_vocab_size", config.target_vocab_size);
      json.field("embeddings", name_of(config.embeddings));
    } else {
      strings("labels", config.labels);
      json.field("vocab_size", config.vocab_size);
    }
    json.field("d_model", config.d_model);
    json.field("d_ff", config.d_ff);
    json.field("n_heads", config.n_heads);
    json.field("encoder_layers", config.encoder_layers);
    if (config.is_translation()) json.field("decoder_layers", config.decoder_layers);
    json.field("max_source_length", config.max_source_length);
    if (config.is_translation()) json.field("max_target_length", config.max_target_length);
    json.field("positions", name_of(config.positions));
    json.field("scale_embedding", config.scale_embedding);
    json.field("norm", name_of(config.norm));
    json.field("layer_norm", name_of(config.layer_norm));
    json.field("layer_norm_eps", config.layer_norm_eps);
    json.field("final_norm", config.final_norm);
    json.field("attention", name_of(config.attention));
    if (config.attention == AttentionType::local)
      json.field("attention_window", config.attention_window);
    json.field("attention_bias", config.attention_bias);
    json.field("activation", name_of(config.activation));
    if (config.is_translation()) {
      json.field("lm_head_bias", config.lm_head_bias);
    } else {
      json.field("pooling", name_of(config.pooling));
      json.field("clip", name_of(config.clip));
    }
    strings("prefix_tokens", config.prefix_tokens);
    strings("suffix_tokens", config.suffix_tokens);
    if (config.is_translation()) {
      json.field("start_token", config.start_token);
      json.field("end_token", config.end_token);
    }
  });
  return json.take() + "\n";
}

}  // namespace glassformer
