#include "tasks/train/new_model.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "families/config/config_fields.hpp"
#include "models/initialize.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

constexpr JsonSource config_source = {ErrorCode::invalid_config, "config.json"};

// A field and its JSON text.
struct Default {
  const char* name;
  const char* json;
};

constexpr Default of_every_model[] = {
    {"format", "1"},
    {"d_model", "128"},
    {"d_ff", "512"},
    {"n_heads", "8"},
    {"positions", "\"sinusoidal\""},
    {"scale_embedding", "true"},
    {"norm", "\"pre\""},
    {"layer_norm", "\"standard\""},
    {"layer_norm_eps", "1e-05"},
    {"final_norm", "true"},
    {"attention_bias", "true"},
    {"activation", "\"relu\""},
};
constexpr Default of_encoders[] = {
    {"encoder_layers", "4"},
    {"attention", "\"full\""},
    {"max_source_length", "512"},
};
constexpr Default of_classifiers[] = {
    {"model_type", "\"encoder_classifier\""},
    {"task", "\"text-classification\""},
    {"pooling", "\"mean\""},
    {"clip", "\"middle\""},
    {"prefix_tokens", "[]"},
    {"suffix_tokens", "[]"},
};
constexpr Default of_encoders_alone[] = {
    {"model_type", "\"encoder\""}, {"task", "\"feature-extraction\""},
    {"poolings", "[\"mean\"]"},    {"normalize", "false"},
    {"clip", "\"end\""},           {"prefix_tokens", "[]"},
    {"suffix_tokens", "[]"},
};
constexpr Default of_taggers[] = {
    {"model_type", "\"encoder\""}, {"task", "\"token-classification\""},
    {"clip", "\"end\""},           {"prefix_tokens", "[]"},
    {"suffix_tokens", "[]"},
};
constexpr Default of_writers[] = {
    {"model_type", "\"decoder\""},
    {"task", "\"text-generation\""},
    {"decoder_layers", "4"},
    {"attention", "\"causal\""},
    {"max_target_length", "512"},
    {"embeddings", "\"tied\""},
    {"lm_head_bias", "false"},
    {"prefix_tokens", "[\"<s>\"]"},
    {"suffix_tokens", "[]"},
    {"end_ids", "[2]"},
    {"generation", "{\"bos_token_id\": 1}"},
};
constexpr Default of_picture_classifiers[] = {
    {"format", "1"},
    {"model_type", "\"encoder_classifier\""},
    {"task", "\"image-classification\""},
    {"class_token", "true"},
    {"d_model", "128"},
    {"d_ff", "512"},
    {"n_heads", "8"},
    {"encoder_layers", "4"},
    {"attention", "\"full\""},
    {"norm", "\"pre\""},
    {"layer_norm", "\"standard\""},
    {"layer_norm_eps", "1e-12"},
    {"final_norm", "true"},
    {"attention_bias", "true"},
    {"activation", "\"gelu\""},
    {"pooling", "\"first\""},
};
constexpr Default of_translators[] = {
    {"model_type", "\"encoder_decoder\""},
    {"task", "\"translation\""},
    {"source_language", "\"und\""},
    {"target_language", "\"und\""},
    {"decoder_layers", "4"},
    {"max_target_length", "256"},
    {"embeddings", "\"shared\""},
    {"lm_head_bias", "true"},
    {"prefix_tokens", "[]"},
    {"suffix_tokens", "[\"</s>\"]"},
    {"start_token", "\"<s>\""},
    {"end_token", "\"</s>\""},
};

using FieldTexts = std::map<std::string, std::string>;

// Returns the JSON text of each field.
FieldTexts fields_of(std::string_view text) {
  const JsonValue given = parse_json(text, config_source);
  if (!given.is_object()) config_source.fail("expected an object");
  FieldTexts fields;
  for (JsonEntries entry(given); entry.next();) {
    fields.emplace(entry.key(), entry.value().text());
  }
  return fields;
}

std::string array_of(const std::vector<std::string>& texts) {
  JsonWriter json;
  json.array(texts, [&](const std::string& text) { json.value(text); });
  return json.take();
}

std::string written(const FieldTexts& fields) {
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    for (const auto& [name, value] : fields) {
      json.key(name);
      json.raw(value);
    }
  });
  return json.take();
}

}  // namespace

std::string complete_config(std::string_view text, Lessons lessons,
                            const std::vector<std::string>& labels, std::size_t vocab_size) {
  FieldTexts fields = fields_of(text);
  const auto add = [&](std::span<const Default> defaults) {
    for (const Default& field : defaults) fields.emplace(field.name, field.json);
  };
  add(of_every_model);
  if (lessons != Lessons::next_token) add(of_encoders);
  const std::string size = std::to_string(vocab_size);
  if (!labels.empty()) fields.emplace("labels", array_of(labels));
  switch (lessons) {
    case Lessons::classes:
      add(of_classifiers);
      fields.emplace("vocab_size", size);
      break;
    case Lessons::token_classes:
      add(of_taggers);
      fields.emplace("vocab_size", size);
      break;
    case Lessons::masked:
      add(of_encoders_alone);
      fields.emplace("vocab_size", size);
      break;
    case Lessons::next_token:
      add(of_writers);
      fields.emplace("vocab_size", size);
      break;
    case Lessons::translation:
      add(of_translators);
      fields.emplace("source_vocab_size", size);
      fields.emplace("target_vocab_size", size);
      break;
    case Lessons::pictures:
    case Lessons::dictionary:
      break;
  }
  return written(fields);
}

std::string complete_config(std::string_view text, const PictureData& data,
                            const std::vector<std::string>& labels) {
  FieldTexts fields = fields_of(text);
  const auto add = [&](const char* name, std::size_t value) {
    fields.emplace(name, std::to_string(value));
  };
  const auto patch = [](std::size_t side) { return std::max<std::size_t>(side / 7, 1); };
  add("picture_height", data.height);
  add("picture_width", data.width);
  add("channels", data.channels);
  add("patch_height", patch(data.height));
  add("patch_width", patch(data.width));
  for (const Default& field : of_picture_classifiers) fields.emplace(field.name, field.json);
  fields.insert_or_assign("labels", array_of(labels));
  return written(fields);
}

Task task_of_config(std::string_view text) {
  const JsonValue given = parse_json(text, config_source);
  if (!given.is_object()) config_source.fail("expected an object");
  for (JsonEntries entry(given); entry.next();) {
    if (entry.key() != "task" || !entry.value().is_string()) continue;
    if (const auto task = find_task(entry.value().string())) return *task;
  }
  return Task::text_classification;
}

ModelConfig without_head(ModelConfig config) {
  const bool first = config.architecture.head.kind == HeadKind::sequence_classes &&
                     config.architecture.head.pooling == Pooling::first;
  if (config.task != Task::feature_extraction) {
    config.vectors = {};
    config.vectors.poolings = {first ? TokenPooling::cls : TokenPooling::mean};
  }
  config.architecture.head = {.kind = HeadKind::vectors};
  config.architecture.embeddings = EmbeddingSharing::separate;
  config.task = Task::feature_extraction;
  config.labels.clear();
  config.unused_head.clear();
  return config;
}

ModelConfig with_labels(ModelConfig config, const std::vector<std::string>& labels, HeadKind kind) {
  if (!config.architecture.encoder || config.architecture.decoder) {
    throw_error(ErrorCode::wrong_task,
                {"expected a model with only an encoder to learn labels, got one for {}",
                 {to_string(config.task)}});
  }
  HeadConfig& head = config.architecture.head;
  if (head.kind != kind) {
    const bool first =
        !config.vectors.poolings.empty() && config.vectors.poolings.front() == TokenPooling::cls;
    head = {.kind = kind, .pooling = first ? Pooling::first : Pooling::mean};
    config.architecture.embeddings = EmbeddingSharing::separate;
  }
  head.outputs = labels.size();
  const bool words = kind == HeadKind::token_classes;
  config.task = words ? Task::token_classification : Task::text_classification;
  config.labels = labels;
  config.scoring = Scoring::softmax;
  config.vectors = {};
  config.unused_head.clear();
  return config;
}

std::vector<std::string> copy_parameters(const Model& from, const Model& to, std::uint64_t seed) {
  std::map<std::string, NamedParameter> known;
  for (NamedParameter& parameter : parameters(from)) {
    known.emplace(parameter.name, std::move(parameter));
  }
  SplitMix64 random(seed);
  std::vector<std::string> fresh;
  for (const NamedParameter& parameter : parameters(to)) {
    std::vector<float> values = initial_values(parameter, random);
    const auto same = known.find(parameter.name);
    if (same != known.end() && same->second.shape == parameter.shape) {
      const std::size_t rows = parameter.shape[0], row = values.size() / rows;
      for (std::size_t i = 0; i < rows; ++i) {
        same->second.get(i, std::span(values).subspan(i * row, row));
      }
    } else {
      fresh.push_back(parameter.name);
    }
    parameter.set(values, 0);
  }
  return fresh;
}

}  // namespace glassformer
