#include "families/model_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/limits.hpp"
#include "families/generation_config.hpp"
#include "linked.hpp"

namespace glassformer {
namespace {

constexpr std::uint64_t format_version = 1;
// The architectures by their names in the file, and the tasks that each does.
struct ModelType {
  const char* name;
  Task task;
};
constexpr std::array model_types = {
    ModelType{"encoder_classifier", Task::text_classification},
    ModelType{"encoder_decoder", Task::translation},
    ModelType{"encoder", Task::token_classification},
    ModelType{"encoder", Task::question_answering},
    ModelType{"encoder", Task::feature_extraction},
    ModelType{"decoder", Task::text_generation},
    ModelType{"encoder_decoder", Task::text2text_generation},
};

constexpr std::uint64_t max_vocab_size = 1 << 24;
constexpr std::uint64_t max_width = 1 << 16;   // d_model, d_ff
constexpr std::uint64_t max_length = 1 << 20;  // tokens
constexpr std::uint64_t max_layers = 1 << 10;
constexpr std::uint64_t max_labels = 1 << 16;
constexpr std::uint64_t max_special_tokens = 64;
constexpr std::size_t max_end_ids = 64;

// The names of an enumeration's values in the file, in the order of its definition.
template <typename Enum>
constexpr std::array<const char*, 0> names_of{};
template <>
constexpr std::array names_of<Task>{
    "text-classification", "translation",     "token-classification", "question-answering",
    "feature-extraction",  "text-generation", "text2text-generation"};
template <>
constexpr std::array names_of<Scoring>{"softmax", "sigmoid", "raw"};
template <>
constexpr std::array names_of<TokenPooling>{"cls",           "max",          "mean",
                                            "mean_sqrt_len", "weightedmean", "lasttoken"};
template <>
constexpr std::array names_of<VectorModule::Kind>{"dense", "layer_norm", "normalize"};
template <>
constexpr std::array names_of<PositionKind>{"sinusoidal", "learned", "sinusoidal_halves",
                                            "relative", "sinusoidal_endpoint"};
template <>
constexpr std::array names_of<NormPlacement>{"pre", "post"};
template <>
constexpr std::array names_of<NormKind>{"standard", "unbiased", "rms"};
template <>
constexpr std::array names_of<AttentionType>{"full", "local", "linear", "causal", "recurrent"};
template <>
constexpr std::array names_of<Activation>{"relu", "gelu", "gelu_tanh", "quick_gelu",
                                          "silu", "tanh", "linear"};
template <>
constexpr std::array names_of<Pooling>{"mean", "first"};
template <>
constexpr std::array names_of<Clip>{"end", "middle", "beginning"};
template <>
constexpr std::array names_of<EmbeddingSharing>{"shared", "tied", "separate", "stacks"};

template <typename Enum>
const char* name_of(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

// The place of the value among the names.
std::size_t choose(const JsonObject& object, const char* key, JsonValue value,
                   std::span<const char* const> names) {
  std::string expected = "one of";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (value.is_string() && value.string() == names[i]) return i;
    expected.append(i == 0 ? " \"" : ", \"").append(names[i]).append("\"");
  }
  object.fail(key, expected, value);
}

template <typename Enum>
Enum choice(const JsonObject& object, const char* key, JsonValue value) {
  return static_cast<Enum>(choose(object, key, value, names_of<Enum>));
}

template <typename Enum>
Enum choice(JsonObject& object, const char* key) {
  return choice<Enum>(object, key, object.require(key));
}

void write_vectors(JsonWriter& json, const ModelConfig& config) {
  const VectorConfig& vectors = config.vectors;
  const std::vector<VectorModule>& modules = config.architecture.head.modules;
  json.key("poolings");
  json.array(vectors.poolings, [&](TokenPooling pooling) { json.value(name_of(pooling)); });
  json.field("normalize", vectors.normalize);
  if (!modules.empty()) {
    json.key("modules");
    json.array(modules, [&](const VectorModule& module) {
      json.object([&] {
        json.field("kind", name_of(module.kind));
        if (module.kind == VectorModule::Kind::normalize) return;
        json.field("in", module.in);
        if (module.kind == VectorModule::Kind::layer_norm) return;
        json.field("out", module.out);
        json.field("bias", module.bias);
        json.field("activation", name_of(module.activation));
      });
    });
  }
  if (!vectors.prompts.empty()) {
    json.key("prompts");
    json.object([&] {
      for (const auto& [name, text] : vectors.prompts) {
        json.key(name);
        json.value(text);
      }
    });
  }
  if (!vectors.default_prompt.empty()) json.field("default_prompt", vectors.default_prompt);
  if (!vectors.include_prompt) json.field("include_prompt", false);
}

std::size_t size(JsonObject& object, const char* key, std::uint64_t max) {
  return static_cast<std::size_t>(object.integer(key, 1, max));
}

std::vector<std::string> strings(JsonObject& object, const char* key, std::uint64_t max_count) {
  const JsonValue& value = object.require(key);
  if (!value.is_array() || count_entries(value) > max_count) {
    object.fail(key, {"an array of at most {} strings", {max_count}}, value);
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
      object.fail("labels", {"expected no control characters, got {}", {describe(label)}});
    }
    if (!seen.insert(label).second) {
      object.fail("labels", {"expected different labels, got {} twice", {describe(label)}});
    }
  }
  return result;
}

std::string text(JsonObject& object, const char* key) {
  const std::string result = object.string(key);
  if (result.empty()) object.fail(key, "a nonempty string", *object.find(key));
  return result;
}

// Version, architecture and task say whether the rest can be read at all, so they come first.
Task task_of(JsonObject& object) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t format = object.integer("format", 0, any);
  if (format != format_version) {
    throw_error(ErrorCode::unsupported,
                {"config.json: format: expected {}, got {}", {format_version, format}});
  }
  const std::string model_type = object.string("model_type");
  const std::string task = object.string("task");
  std::string types, tasks;
  for (const ModelType& known : model_types) {
    const std::string name = "\"" + std::string(known.name) + "\"";
    if (types.find(name) == std::string::npos) types += (types.empty() ? "" : ", ") + name;
    if (model_type != known.name) continue;
    if (task == to_string(known.task)) return known.task;
    tasks += (tasks.empty() ? "\"" : ", \"") + std::string(to_string(known.task)) + "\"";
  }
  if (tasks.empty()) {
    throw_error(ErrorCode::unsupported, {"config.json: model_type: expected one of {}, got {}",
                                         {types, describe(model_type)}});
  }
  throw_error(ErrorCode::wrong_task,
              {"config.json: task: expected {}, that of model_type \"{}\", got {}",
               {tasks, model_type, describe(task)}});
}

void check_matrix(const JsonObject& object, std::pair<const char*, std::size_t> rows,
                  std::pair<const char*, std::size_t> columns) {
  const std::uint64_t elements = std::uint64_t{rows.second} * columns.second;
  if (elements > max_matrix_elements) {
    object.fail(rows.first, {"expected at most {} elements in a matrix with {}, got {}",
                             {max_matrix_elements, columns.first, elements}});
  }
}

void check_stack(const JsonObject& object, const StackConfig& stack) {
  const std::pair d_model("d_model", stack.d_model);
  check_matrix(object, d_model, d_model);
  check_matrix(object, {"d_ff", stack.d_ff}, d_model);
  check_matrix(object, {"n_heads", stack.n_heads * stack.d_head}, d_model);
  check_matrix(object, {"relative_buckets", stack.relative_buckets}, {"n_heads", stack.n_heads});
}

void expect_id(const JsonObject& object, const char* key, std::int32_t id,
               const StackConfig& stack) {
  if (static_cast<std::size_t>(id) < stack.vocab_size) return;
  object.fail(key, {"expected ids below {}, got {}", {stack.vocab_size, id}});
}

void check_together(const JsonObject& object, const ModelConfig& config) {
  const StackConfig& reader = config.reader();
  const bool alone = !config.architecture.encoder;
  const std::pair d_model("d_model", reader.d_model);
  const bool sinusoidal =
      reader.positions != PositionKind::learned && reader.positions != PositionKind::relative;
  if (sinusoidal && reader.d_model % 2 != 0) {
    object.fail("d_model",
                {"expected an even number for sinusoidal positions, got {}", {reader.d_model}});
  }
  check_stack(object, reader);
  check_matrix(object,
               {alone ? "max_target_length" : "max_source_length",
                reader.max_length + reader.position_offset},
               d_model);
  for (const std::int32_t id : config.generation.end_ids) {
    expect_id(object, "end_ids", id, reader);
  }
  if (config.generation.start_id) {
    expect_id(object, "start_id", *config.generation.start_id, reader);
  }
  if (alone) return check_matrix(object, {"vocab_size", reader.vocab_size}, d_model);
  const StackConfig& encoder = config.encoder();
  if (config.architecture.decoder) {
    const StackConfig& decoder = config.decoder();
    check_stack(object, decoder);
    const bool translates = config.task == Task::translation;
    check_matrix(object, {translates ? "source_vocab_size" : "vocab_size", encoder.vocab_size},
                 d_model);
    if (translates) check_matrix(object, {"target_vocab_size", decoder.vocab_size}, d_model);
    check_matrix(object, {"max_target_length", decoder.max_length + decoder.position_offset},
                 d_model);
    const EmbeddingSharing sharing = config.architecture.embeddings;
    const bool one_table =
        sharing == EmbeddingSharing::shared || sharing == EmbeddingSharing::stacks;
    if (one_table && decoder.vocab_size != encoder.vocab_size) {
      object.fail("target_vocab_size",
                  {"expected source_vocab_size {} with \"embeddings\": \"{}\", got {}",
                   {encoder.vocab_size, name_of(sharing), decoder.vocab_size}});
    }
  } else {
    check_matrix(object, {"vocab_size", encoder.vocab_size}, d_model);
    check_matrix(object, {"labels", config.architecture.head.outputs}, d_model);
  }
  const std::size_t special = config.prefix_tokens.size() + config.suffix_tokens.size();
  if (config.max_source_length() <= special) {
    object.fail("max_source_length", {"expected more than the {} prefix and suffix tokens, got {}",
                                      {special, config.max_source_length()}});
  }
  if (config.max_source_length() > encoder.max_length) {
    object.fail("max_positions", {"expected at least max_source_length {}, got {}",
                                  {config.max_source_length(), encoder.max_length}});
  }
}

// What both stacks of a model have in common.
StackConfig read_stack(JsonObject& object) {
  StackConfig stack;
  stack.d_model = size(object, "d_model", max_width);
  stack.d_ff = size(object, "d_ff", max_width);
  stack.n_heads = size(object, "n_heads", max_width);
  if (object.find("d_head")) {
    stack.d_head = size(object, "d_head", max_width);
  } else if (stack.d_model % stack.n_heads == 0) {
    stack.d_head = stack.d_model / stack.n_heads;
  } else {
    object.fail("n_heads",
                {"expected a divisor of d_model {}, got {}", {stack.d_model, stack.n_heads}});
  }
  stack.positions = choice<PositionKind>(object, "positions");
  if (const JsonValue* offset = object.find("position_offset")) {
    stack.position_offset = size(object, "position_offset", max_length);
    if (stack.positions != PositionKind::learned) {
      object.fail("position_offset",
                  {"only with \"positions\": \"learned\", got {}", {describe(*offset)}});
    }
  }
  if (stack.positions == PositionKind::relative) {
    stack.relative_buckets = size(object, "relative_buckets", max_width);
    if (stack.relative_buckets < 4 || stack.relative_buckets % 2 != 0) {
      object.fail("relative_buckets", "an even number above 2", *object.find("relative_buckets"));
    }
    stack.relative_distance = size(object, "relative_distance", max_length);
    if (stack.relative_distance <= stack.relative_buckets / 2) {
      object.fail("relative_distance", "more than half of relative_buckets",
                  *object.find("relative_distance"));
    }
  }
  if (object.find("padding")) {
    if (stack.position_offset == 0) {
      object.fail("padding", "only with a \"position_offset\"", *object.find("padding"));
    }
    stack.padding = static_cast<std::int32_t>(object.integer("padding", 0, max_vocab_size));
  }
  if (object.find("token_types")) stack.token_types = size(object, "token_types", max_labels);
  stack.scale_embedding = object.boolean("scale_embedding");
  if (object.find("embedding_norm")) stack.embedding_norm = object.boolean("embedding_norm");
  stack.norm = choice<NormPlacement>(object, "norm");
  stack.layer_norm = choice<NormKind>(object, "layer_norm");
  stack.layer_norm_eps = object.fraction("layer_norm_eps");
  stack.final_norm = object.boolean("final_norm");
  stack.attention = choice<AttentionType>(object, "attention");
  if (stack.attention == AttentionType::recurrent) {
    object.fail("attention", "one of attention; \"decoder_attention\" may be \"recurrent\"",
                *object.find("attention"));
  }
  if (stack.attention == AttentionType::local) {
    stack.attention_window = size(object, "attention_window", max_length);
  } else if (const JsonValue* window = object.find("attention_window")) {
    object.fail("attention_window",
                {"only with \"attention\": \"local\", got {}", {describe(*window)}});
  }
  if (stack.positions == PositionKind::relative && stack.attention == AttentionType::linear) {
    object.fail("attention", "one that has scores, with \"positions\": \"relative\"",
                *object.find("attention"));
  }
  stack.attention_bias = object.boolean("attention_bias");
  if (object.find("score_divisor")) {
    const auto divisor = object.float_number("score_divisor");
    if (!(divisor > 0))
      object.fail("score_divisor", "a number above 0", *object.find("score_divisor"));
    stack.score_divisor = divisor;
  }
  if (object.find("divide_by_layer")) stack.divide_by_layer = object.boolean("divide_by_layer");
  stack.activation = choice<Activation>(object, "activation");
  if (object.find("gated")) stack.gated = object.boolean("gated");
  if (object.find("feed_forward_bias")) {
    stack.feed_forward_bias = object.boolean("feed_forward_bias");
  }
  return stack;
}

// A model may take fewer tokens of a text than it has positions.
void read_max_positions(JsonObject& object, ModelConfig& config) {
  if (!object.find("max_positions")) return;
  StackConfig& encoder = *config.architecture.encoder;
  config.max_tokens = encoder.max_length;
  encoder.max_length = size(object, "max_positions", max_length);
}

// What models without a decoder have in common.
void read_encoder(JsonObject& object, ModelConfig& config) {
  config.clip = choice<Clip>(object, "clip");
  StackConfig& encoder = *config.architecture.encoder;
  encoder.vocab_size = size(object, "vocab_size", max_vocab_size);
  read_max_positions(object, config);
  HeadConfig& head = config.architecture.head;
  if (object.find("head_bias")) head.bias = object.boolean("head_bias");
}

void read_classifier(JsonObject& object, ModelConfig& config) {
  config.labels = labels(object);
  if (object.find("scoring")) config.scoring = choice<Scoring>(object, "scoring");
  HeadConfig& head = config.architecture.head;
  head.kind = HeadKind::sequence_classes;
  head.outputs = config.labels.size();
  head.pooling = choice<Pooling>(object, "pooling");
  if (object.find("head_dense")) head.dense = choice<Activation>(object, "head_dense");
  read_encoder(object, config);
}

void read_token_classifier(JsonObject& object, ModelConfig& config) {
  config.labels = labels(object);
  config.architecture.head = {.kind = HeadKind::token_classes, .outputs = config.labels.size()};
  read_encoder(object, config);
}

void read_answerer(JsonObject& object, ModelConfig& config) {
  config.architecture.head = {.kind = HeadKind::spans, .outputs = 2};
  read_encoder(object, config);
}

VectorModule read_vector_module(JsonValue value, std::string_view document) {
  JsonObject object(value, {config_limit.code, document}, "modules");
  VectorModule module{.kind = choice<VectorModule::Kind>(object, "kind")};
  if (module.kind != VectorModule::Kind::normalize) {
    module.in = size(object, "in", max_width);
    module.out = module.in;
  }
  if (module.kind == VectorModule::Kind::dense) {
    module.out = size(object, "out", max_width);
    module.bias = object.boolean("bias");
    module.activation = choice<Activation>(object, "activation");
  }
  object.finish();
  return module;
}

void read_embedder(JsonObject& object, ModelConfig& config) {
  config.architecture.head = {.kind = HeadKind::vectors};
  VectorConfig& vectors = config.vectors;
  std::vector<VectorModule>& head_modules = config.architecture.head.modules;
  const JsonValue& poolings = object.require("poolings");
  if (!poolings.is_array() || count_entries(poolings) == 0 || count_entries(poolings) > 6) {
    object.fail("poolings", "an array of one to six names", poolings);
  }
  for (JsonEntries entry(poolings); entry.next();) {
    vectors.poolings.push_back(choice<TokenPooling>(object, "poolings", entry.value()));
  }
  vectors.normalize = object.boolean("normalize");
  if (const JsonValue* modules = object.find("modules")) {
    if (!modules->is_array() || count_entries(*modules) > max_special_tokens) {
      object.fail("modules", {"an array of at most {} modules", {max_special_tokens}}, *modules);
    }
    for (JsonEntries entry(*modules); entry.next();) {
      head_modules.push_back(read_vector_module(entry.value(), object.document()));
    }
  }
  if (const JsonValue* prompts = object.find("prompts")) {
    if (!prompts->is_object()) object.fail("prompts", "an object of texts", *prompts);
    for (JsonEntries entry(*prompts); entry.next();) {
      if (!entry.value().is_string()) object.fail("prompts", "texts", entry.value());
      vectors.prompts.emplace_back(entry.key(), entry.value().string());
    }
  }
  if (const JsonValue* name = object.find("default_prompt")) {
    vectors.default_prompt = object.string("default_prompt");
    if (!vectors.find_prompt(vectors.default_prompt)) {
      object.fail("default_prompt", "the name of a prompt", *name);
    }
  }
  if (object.find("include_prompt")) vectors.include_prompt = object.boolean("include_prompt");
  read_encoder(object, config);
  const std::size_t pooled = vectors.poolings.size() * config.encoder().d_model;
  const std::string problem = sizes_problem(head_modules, pooled);
  if (!problem.empty()) object.fail("modules", problem);
}

// What stands on the last stack of a model that writes.
void read_next_token(JsonObject& object, ModelConfig& config) {
  config.architecture.embeddings = choice<EmbeddingSharing>(object, "embeddings");
  HeadConfig& head = config.architecture.head;
  head = {.kind = HeadKind::next_token,
          .outputs = config.decoder().vocab_size,
          .bias = object.boolean("lm_head_bias")};
  if (object.find("scale_states")) head.scale_states = object.boolean("scale_states");
}

// The decoder behind an encoder, and what stands on it.
void read_decoder(JsonObject& object, ModelConfig& config, std::size_t vocab_size) {
  StackConfig& decoder = config.architecture.decoder.emplace(config.encoder());
  decoder.vocab_size = vocab_size;
  decoder.layers = size(object, "decoder_layers", max_layers);
  decoder.max_length = size(object, "max_target_length", max_length);
  if (object.find("decoder_n_heads")) {
    decoder.n_heads = size(object, "decoder_n_heads", max_width);
    if (decoder.d_model % decoder.n_heads != 0) {
      object.fail("decoder_n_heads",
                  {"expected a divisor of d_model {}, got {}", {decoder.d_model, decoder.n_heads}});
    }
    decoder.d_head = decoder.d_model / decoder.n_heads;
  }
  if (object.find("decoder_d_ff")) decoder.d_ff = size(object, "decoder_d_ff", max_width);
  decoder.attention = AttentionType::causal;
  decoder.attention_window = 0;
  read_next_token(object, config);
}

void read_translator(JsonObject& object, ModelConfig& config) {
  config.source_language = text(object, "source_language");
  config.target_language = text(object, "target_language");
  config.start_token = text(object, "start_token");
  config.end_token = text(object, "end_token");
  config.architecture.encoder->vocab_size = size(object, "source_vocab_size", max_vocab_size);
  read_decoder(object, config, size(object, "target_vocab_size", max_vocab_size));
  StackConfig& decoder = *config.architecture.decoder;
  if (object.find("decoder_attention")) {
    decoder.attention = choice<AttentionType>(object, "decoder_attention");
    const bool recurrent = decoder.attention == AttentionType::recurrent;
    if (!recurrent && decoder.attention != AttentionType::causal) {
      object.fail("decoder_attention", "\"causal\" or \"recurrent\"",
                  *object.find("decoder_attention"));
    }
    if (recurrent && (decoder.n_heads * decoder.d_head != decoder.d_model ||
                      decoder.positions == PositionKind::relative)) {
      object.fail("decoder_attention",
                  "\"causal\" where heads are not as wide as d_model or positions are relative",
                  *object.find("decoder_attention"));
    }
  }
  if (object.find("zero_start")) decoder.zero_start = object.boolean("zero_start");
}

std::int32_t token_id(const JsonObject& object, const char* key, JsonValue value) {
  if (!value.is_whole() || value.whole() >= max_vocab_size) {
    object.fail(key, "ids of tokens", value);
  }
  return static_cast<std::int32_t>(value.whole());
}

void read_end_ids(JsonObject& object, ModelConfig& config) {
  const JsonValue& ids = object.require("end_ids");
  if (!ids.is_array() || count_entries(ids) > max_end_ids) {
    object.fail("end_ids", {"an array of at most {} ids", {max_end_ids}}, ids);
  }
  for (JsonEntries entry(ids); entry.next();) {
    config.generation.end_ids.push_back(token_id(object, "end_ids", entry.value()));
  }
}

void read_text_to_text(JsonObject& object, ModelConfig& config) {
  StackConfig& encoder = *config.architecture.encoder;
  encoder.vocab_size = size(object, "vocab_size", max_vocab_size);
  read_max_positions(object, config);
  read_decoder(object, config, encoder.vocab_size);
  config.generation.start_id = token_id(object, "start_id", object.require("start_id"));
  read_end_ids(object, config);
}

void read_generator(JsonObject& object, ModelConfig& config) {
  StackConfig& decoder = *config.architecture.decoder;
  if (decoder.attention != AttentionType::causal) {
    object.fail("attention", "\"causal\" for this task", *object.find("attention"));
  }
  decoder.vocab_size = size(object, "vocab_size", max_vocab_size);
  read_next_token(object, config);
  const EmbeddingSharing sharing = config.architecture.embeddings;
  if (sharing == EmbeddingSharing::shared || sharing == EmbeddingSharing::stacks) {
    object.fail("embeddings", "\"tied\" or \"separate\"", *object.find("embeddings"));
  }
  read_end_ids(object, config);
}

// What the tasks that write, and those that read, have of their own.
void read_writer(JsonObject& object, ModelConfig& config) {
  switch (config.task) {
    case Task::translation:
      return read_translator(object, config);
    case Task::text_generation:
      return read_generator(object, config);
    case Task::text2text_generation:
      return read_text_to_text(object, config);
    default:
      return;
  }
}

void read_reader(JsonObject& object, ModelConfig& config) {
  switch (config.task) {
    case Task::text_classification:
      return read_classifier(object, config);
    case Task::token_classification:
      return read_token_classifier(object, config);
    case Task::question_answering:
      return read_answerer(object, config);
    case Task::feature_extraction:
      return read_embedder(object, config);
    default:
      return;
  }
}

}  // namespace

const std::string* VectorConfig::find_prompt(std::string_view name) const {
  const auto found = std::ranges::find(
      prompts, name, [](const auto& prompt) -> std::string_view { return prompt.first; });
  return found == prompts.end() ? nullptr : &found->second;
}

std::string sizes_problem(std::span<const VectorModule> modules, std::size_t size) {
  for (const VectorModule& module : modules) {
    if (module.kind == VectorModule::Kind::normalize) continue;
    if (module.in != size) {
      return "expected a module for vectors of " + std::to_string(size) + " numbers, got one for " +
             std::to_string(module.in);
    }
    size = module.out;
  }
  return {};
}

bool writes(Task task) {
  return task == Task::translation || task == Task::text_generation ||
         task == Task::text2text_generation;
}

ModelConfig parse_config(std::string_view json) {
  expect_within(config_limit, json.size());
  const JsonSource source{config_limit.code, config_limit.name};
  JsonObject object(parse_json(json, source), source);
  ModelConfig config;
  config.task = task_of(object);
  expect_linked(writes(config.task));
  const bool alone = config.task == Task::text_generation;
  Architecture& architecture = config.architecture;
  StackConfig& reader =
      (alone ? architecture.decoder : architecture.encoder).emplace(read_stack(object));
  reader.layers = size(object, alone ? "decoder_layers" : "encoder_layers", max_layers);
  reader.max_length = size(object, alone ? "max_target_length" : "max_source_length", max_length);
  if (links_writers()) read_writer(object, config);
  if (links_readers()) read_reader(object, config);
  if (object.find("tokenizer_template")) {
    config.tokenizer_template = object.boolean("tokenizer_template");
  }
  if (object.find("tokenizer_class")) config.tokenizer_class = object.string("tokenizer_class");
  if (!config.tokenizer_template) {
    config.prefix_tokens = strings(object, "prefix_tokens", max_special_tokens);
    config.suffix_tokens = strings(object, "suffix_tokens", max_special_tokens);
  }
  const JsonValue* generation = architecture.decoder ? object.find("generation") : nullptr;
  if (links_writers() && generation) {
    JsonObject fields(*generation, source, "generation");
    read_generation(fields, config.generation);
    if (config.task != Task::translation) read_tasks(fields, config.generation);
    fields.finish();
    check_generation(config.generation, config.decoder().vocab_size, source.name);
  }
  object.finish();
  check_together(object, config);
  return config;
}

const char* to_string(Task task) { return name_of(task); }
const char* to_string(TokenPooling pooling) { return name_of(pooling); }

ModelConfig expect_task(ModelConfig config, std::span<const Task> tasks) {
  std::string expected;
  for (const Task task : tasks) {
    if (config.task == task) return config;
    expected.append(expected.empty() ? "\"" : " or \"").append(to_string(task)).append("\"");
  }
  throw_error(ErrorCode::wrong_task,
              {"config.json: task: expected {}, got \"{}\"", {expected, to_string(config.task)}});
}

namespace {

// What stands in no field of its own: a translator's one end token does.
void write_generation_of(JsonWriter& json, const ModelConfig& config) {
  const std::vector<std::int32_t>& ends = config.generation.end_ids;
  const bool several = config.task == Task::translation && ends.size() > 1;
  if (!several && config.generation == GenerationConfig{.end_ids = ends}) return;
  json.key("generation");
  json.object([&] {
    if (several) {
      json.key("eos_token_id");
      json.array(ends, [&](std::int32_t id) { json.value(id); });
    }
    write_generation(json, config.generation);
  });
}

}  // namespace

std::string to_json(const ModelConfig& config) {
  JsonWriter json(JsonWriter::Layout::lines);
  const auto strings = [&](const char* key, const std::vector<std::string>& values) {
    json.key(key);
    json.array(values, [&](const std::string& value) { json.value(value); });
  };
  const auto type = std::ranges::find(model_types, config.task,
                                      [](const ModelType& known) { return known.task; });
  const StackConfig& stack = config.reader();
  const HeadConfig& head = config.architecture.head;
  const std::optional<StackConfig>& decoder = config.architecture.decoder;
  const bool translates = config.task == Task::translation;
  json.object([&] {
    json.field("format", format_version);
    json.field("model_type", type->name);
    json.field("task", to_string(config.task));
    if (translates) {
      json.field("source_language", config.source_language);
      json.field("target_language", config.target_language);
      json.field("source_vocab_size", stack.vocab_size);
      json.field("target_vocab_size", decoder->vocab_size);
      json.field("embeddings", name_of(config.architecture.embeddings));
    } else {
      if (!config.labels.empty()) strings("labels", config.labels);
      json.field("vocab_size", stack.vocab_size);
      if (decoder) json.field("embeddings", name_of(config.architecture.embeddings));
    }
    json.field("d_model", stack.d_model);
    json.field("d_ff", stack.d_ff);
    json.field("n_heads", stack.n_heads);
    if (stack.n_heads * stack.d_head != stack.d_model) json.field("d_head", stack.d_head);
    if (config.architecture.encoder) json.field("encoder_layers", stack.layers);
    if (decoder) {
      json.field("decoder_layers", decoder->layers);
      if (decoder->n_heads != stack.n_heads) json.field("decoder_n_heads", decoder->n_heads);
      if (decoder->d_ff != stack.d_ff) json.field("decoder_d_ff", decoder->d_ff);
      if (decoder->attention == AttentionType::recurrent) {
        json.field("decoder_attention", name_of(decoder->attention));
      }
      if (decoder->zero_start) json.field("zero_start", true);
    }
    if (config.architecture.encoder) json.field("max_source_length", config.max_source_length());
    if (config.max_tokens > 0) json.field("max_positions", stack.max_length);
    if (decoder) json.field("max_target_length", decoder->max_length);
    json.field("positions", name_of(stack.positions));
    if (stack.positions == PositionKind::relative) {
      json.field("relative_buckets", stack.relative_buckets);
      json.field("relative_distance", stack.relative_distance);
    }
    if (stack.position_offset > 0) json.field("position_offset", stack.position_offset);
    if (stack.padding) json.field("padding", *stack.padding);
    if (stack.token_types > 0) json.field("token_types", stack.token_types);
    json.field("scale_embedding", stack.scale_embedding);
    if (stack.embedding_norm) json.field("embedding_norm", stack.embedding_norm);
    json.field("norm", name_of(stack.norm));
    json.field("layer_norm", name_of(stack.layer_norm));
    json.field("layer_norm_eps", stack.layer_norm_eps);
    json.field("final_norm", stack.final_norm);
    json.field("attention", name_of(stack.attention));
    if (stack.attention == AttentionType::local) {
      json.field("attention_window", stack.attention_window);
    }
    json.field("attention_bias", stack.attention_bias);
    if (stack.score_divisor) json.field("score_divisor", *stack.score_divisor);
    if (stack.divide_by_layer) json.field("divide_by_layer", stack.divide_by_layer);
    json.field("activation", name_of(stack.activation));
    if (stack.gated) json.field("gated", stack.gated);
    if (!stack.feed_forward_bias) json.field("feed_forward_bias", stack.feed_forward_bias);
    if (decoder) {
      json.field("lm_head_bias", head.bias);
      if (head.scale_states) json.field("scale_states", head.scale_states);
    } else {
      if (head.kind == HeadKind::sequence_classes) json.field("pooling", name_of(head.pooling));
      if (head.kind == HeadKind::vectors) {
        write_vectors(json, config);
      }
      if (config.scoring != Scoring::softmax) json.field("scoring", name_of(config.scoring));
      if (head.dense) json.field("head_dense", name_of(*head.dense));
      if (!head.bias) json.field("head_bias", head.bias);
      json.field("clip", name_of(config.clip));
    }
    if (config.tokenizer_template) {
      json.field("tokenizer_template", true);
      if (!config.tokenizer_class.empty()) json.field("tokenizer_class", config.tokenizer_class);
    } else {
      strings("prefix_tokens", config.prefix_tokens);
      strings("suffix_tokens", config.suffix_tokens);
    }
    if (translates) {
      json.field("start_token", config.start_token);
      json.field("end_token", config.end_token);
    } else if (decoder) {
      if (config.generation.start_id) json.field("start_id", *config.generation.start_id);
      json.key("end_ids");
      json.array(config.generation.end_ids, [&](std::int32_t id) { json.value(id); });
    }
    if (decoder) write_generation_of(json, config);
  });
  return json.take() + "\n";
}

}  // namespace glassformer
