#include "tasks/pipeline.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"

namespace glassformer {

std::string_view TextInput::alone() const {
  if (!pair) return text;
  throw_error(ErrorCode::invalid_option, "pair: expected one text for this task, got two");
}

std::vector<std::string_view> single_texts(std::span<const TextInput> texts) {
  std::vector<std::string_view> views;
  for (const TextInput& text : texts) views.push_back(text.alone());
  return views;
}

std::string describe_json(const Pipeline& pipeline, std::size_t parameters,
                          std::span<const std::string> ignored) {
  const ModelConfig& config = pipeline.config();
  JsonWriter json;
  json.object([&] {
    const StackConfig& reader = config.reader();
    json.field("task", to_string(config.task));
    json.field("layers", reader.layers.size());
    json.field("heads", reader.n_heads());
    json.field("d_model", reader.d_model);
    json.field("vocab_size", reader.vocab_size());
    json.field("max_source_length", config.max_source_length());
    json.field("parameters", parameters);
    json.key("ignored_tensors");
    json.array(ignored, [&](const std::string& name) { json.value(name); });
    json.field("compute", to_string(pipeline.compute()));
    const std::optional<StackConfig>& decoder = config.architecture.decoder;
    const bool translates = config.task == Task::translation;
    if (decoder && !translates) {
      const GenerationConfig& generation = config.generation;
      json.field("prefix", generation.prefix);
      json.key("tasks");
      json.object([&] {
        for (const TaskSettings& task : generation.tasks) {
          json.field(task.name, task.prefix.value_or(generation.prefix));
        }
      });
    }
    if (translates) {
      json.field("source_language", config.source_language);
      json.field("target_language", config.target_language);
    }
    if (decoder && config.architecture.encoder) {
      json.field("decoder_layers", decoder->layers.size());
      if (translates) json.field("target_vocab_size", decoder->vocab_size());
      json.field("max_target_length", decoder->max_length);
    } else if (config.task == Task::feature_extraction) {
      json.key("poolings");
      json.array(config.vectors.poolings,
                 [&](TokenPooling pooling) { json.value(to_string(pooling)); });
      json.field("normalize", config.vectors.normalize);
      if (!config.unused_head.empty()) json.field("unused_head", config.unused_head);
      json.key("prompts");
      json.object([&] {
        for (const auto& [name, text] : config.vectors.prompts) {
          json.key(name);
          json.value(text);
        }
      });
      if (!config.vectors.default_prompt.empty()) {
        json.field("default_prompt", config.vectors.default_prompt);
      }
    } else if (!config.labels.empty()) {
      json.key("labels");
      json.array(config.labels, [&](const std::string& label) { json.value(label); });
    }
  });
  return json.take();
}

std::string vocabulary_json(const Pipeline& pipeline) {
  if (!pipeline.vocabulary()) return "[]";
  const Tokenizer& tokenizer = *pipeline.vocabulary();
  // Tokens without a row in the model's table never occur in results.
  const std::size_t size = std::min(tokenizer.size(), pipeline.config().reader().vocab_size());
  JsonWriter json;
  json.array([&] {
    for (std::size_t id = 0; id < size; ++id) {
      json.value(tokenizer.display_text(static_cast<std::int32_t>(id)));
    }
  });
  return json.take();
}

std::string to_json(const Error& error) {
  JsonWriter json;
  json.object([&] {
    json.key("error");
    json.object([&] {
      json.field("code", to_string(error.code()));
      json.field("message", error.what());
    });
  });
  return json.take();
}

}  // namespace glassformer
