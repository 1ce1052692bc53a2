#include "tasks/train/new_model.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "families/config/config_fields.hpp"
#include "families/config/hub_config.hpp"
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
    {"model_type", "\"vit\""},
    {"architectures", "[\"ViTForImageClassification\"]"},
    {"hidden_size", "128"},
    {"num_hidden_layers", "4"},
    {"num_attention_heads", "8"},
    {"intermediate_size", "512"},
    {"hidden_act", "\"gelu\""},
    {"layer_norm_eps", "1e-12"},
    {"qkv_bias", "true"},
    {"hidden_dropout_prob", "0.0"},
    {"attention_probs_dropout_prob", "0.0"},
    {"initializer_range", "0.02"},
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
  if (!labels.empty()) {
    JsonWriter json;
    json.array(labels, [&](const std::string& label) { json.value(label); });
    fields.emplace("labels", json.take());
  }
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
      break;
  }
  return written(fields);
}

namespace {

// Sets the fields of a published config.json that name the labels.
void set_labels(FieldTexts& fields, const std::vector<std::string>& labels) {
  JsonWriter names, numbers;
  names.object([&] {
    for (std::size_t i = 0; i < labels.size(); ++i) names.field(std::to_string(i), labels[i]);
  });
  numbers.object([&] {
    for (std::size_t i = 0; i < labels.size(); ++i) numbers.field(labels[i], i);
  });
  fields.insert_or_assign("id2label", names.take());
  fields.insert_or_assign("label2id", numbers.take());
}

std::string size_json(std::size_t height, std::size_t width) {
  if (height == width) return std::to_string(height);
  return "[" + std::to_string(height) + ", " + std::to_string(width) + "]";
}

}  // namespace

std::string complete_picture_config(std::string_view text, const PictureData& data) {
  FieldTexts fields = fields_of(text);
  for (const Default& field : of_picture_classifiers) fields.emplace(field.name, field.json);
  const auto patch = [](std::size_t side) { return std::max<std::size_t>(side / 7, 1); };
  fields.emplace("image_size", size_json(data.height, data.width));
  fields.emplace("patch_size", size_json(patch(data.height), patch(data.width)));
  fields.emplace("num_channels", std::to_string(data.channels));
  set_labels(fields, data.labels);
  return written(fields);
}

std::string with_labels_in(std::string_view config_file, const std::vector<std::string>& labels) {
  FieldTexts fields = fields_of(config_file);
  set_labels(fields, labels);
  fields.erase("num_labels");
  return written(fields);
}

ModelConfig read_picture_config(const PublishedModel& model) {
  HubConfig hub(model.config_file, {}, nullptr, config_source.name);
  ModelConfig config = model.family->read(hub);
  const PatchInput& input = std::get<PatchInput>(config.encoder().input);
  config.pictures = usual_picture_steps(*model.family->pictures);
  config.pictures.size = {input.height, input.width};
  config.pictures.crops = false;
  return config;
}

Task task_of_config(std::string_view text) {
  const JsonValue given = parse_json(text, config_source);
  if (!given.is_object()) config_source.fail("expected an object");
  for (JsonEntries entry(given); entry.next();) {
    if (entry.key() != "task" || !entry.value().is_string()) continue;
    const std::string name = entry.value().string();
    const auto& names = enum_names<Task>;
    const auto found = std::ranges::find(names, std::string_view(name));
    if (found != names.end()) return static_cast<Task>(found - names.begin());
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
