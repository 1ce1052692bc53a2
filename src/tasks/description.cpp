#include "tasks/description.hpp"

#include "base/fields.hpp"
#include "base/json/json_writer.hpp"
#include "families/linked.hpp"
#include "tasks/reading/mask_token.hpp"

namespace glassformer {
namespace {

// Writes the fields of a stack.
class StackWriter final : public Fields {
 public:
  bool has(const char*, bool present) override { return present; }
  void size(const char* name, std::size_t& value, const SizeRule&, std::size_t) override {
    add(name, value);
  }
  void number(const char* name, float& value, NumberRange) override { add(name, value); }
  void flag(const char* name, bool& value, AbsentFlag) override { add(name, value); }
  void choose(const char* name, std::size_t& value, EnumNames names, std::size_t) override {
    add(name, names[value]);
  }
  void text(const char* name, std::string& value) override { add(name, value); }
  void texts(const char*, std::vector<std::string>&, std::size_t) override {}  // no stack has any
  void numbers(const char* name, std::vector<float>& values, std::size_t) override {
    JsonWriter json;
    json.object([&] {
      json.key(name);
      json.array(values, [&](float value) { json.value(value); });
    });
    add_fields(json.take());
  }
  void refuse(const char*, const char*) override {}
  void enter_layer(std::size_t index, std::size_t count) override {
    layers_.resize(count);
    fields_ = &layers_[index];
  }
  void leave_layers() override { fields_ = &stack_; }

  void write(JsonWriter& json) const {
    std::string layers;
    for (const std::string& layer : layers_) layers += (layers.empty() ? "{" : ",{") + layer + "}";
    json.raw("{" + stack_ + ",\"layers\":[" + layers + "]}");
  }

 private:
  void add(std::string_view name, const auto& value) {
    if (name == "layers") return;  // their number; an array takes its place
    JsonWriter json;
    json.object([&] { json.field(name, value); });
    add_fields(json.take());
  }

  // Adds the fields of an object.
  void add_fields(const std::string& object) {
    if (!fields_->empty()) *fields_ += ",";
    fields_->append(object, 1, object.size() - 2);
  }

  std::string stack_;
  std::vector<std::string> layers_;
  std::string* fields_ = &stack_;  // of the object that is written
};

void write_stack(JsonWriter& json, const char* name, std::optional<StackConfig> stack,
                 std::string start_token = {}) {
  if (!stack) return;
  StackWriter writer;
  fields(writer, *stack);
  if (!start_token.empty()) writer.text("start_token", start_token);
  json.key(name);
  writer.write(json);
}

}  // namespace

std::string architecture_json(const ModelConfig& config) {
  const Architecture& architecture = config.architecture;
  const HeadConfig& head = architecture.head;
  JsonWriter json;
  json.object([&] {
    write_stack(json, "encoder", architecture.encoder);
    write_stack(json, "decoder", architecture.decoder, config.start_token);
    write_stack(json, "text_encoder", architecture.text_encoder);
    json.key("head");
    json.object([&] {
      json.field("kind", name_of(head.kind));
      json.field("outputs", head.outputs);
      json.field("bias", head.bias);
      if (head.kind == HeadKind::sequence_classes) json.field("pooling", name_of(head.pooling));
      if (head.distilled) json.field("distilled", true);
      if (head.dense) json.field("dense_activation", name_of(head.dense->activation));
      json.field("scale_states", head.scale_states);
      if (head.logit_cap) json.field("logit_cap", *head.logit_cap);
    });
    json.field("embeddings", name_of(architecture.embeddings));
  });
  return json.take();
}

std::string describe_json(const Pipeline& pipeline, std::size_t parameters,
                          std::span<const std::string> ignored) {
  const ModelConfig& config = pipeline.config();
  JsonWriter json;
  json.object([&] {
    const Architecture& architecture = config.architecture;
    const StackConfig& first = architecture.encoder ? *architecture.encoder : *architecture.decoder;
    json.field("task", to_string(config.task));
    json.field("layers", first.layers.size());
    json.field("heads", first.n_heads());
    json.field("d_model", first.d_model);
    json.field("vocab_size", needs_tokenizer(config) ? config.reader().vocab_size() : 0);
    json.field("max_source_length", config.max_source_length());
    json.field("parameters", parameters);
    json.key("ignored_tensors");
    json.array(ignored, [&](const std::string& name) { json.value(name); });
    json.field("compute", to_string(pipeline.compute()));
    json.key("architecture");
    json.raw(architecture_json(config));
    const bool writing = linked_families.writing && writes(config.task);
    const StackConfig* decoder = writing ? &*config.architecture.decoder : nullptr;
    const bool translates = decoder && config.task == Task::translation;
    if (decoder && !config.chat.templates.empty()) {
      const ChatConfig::Template* usual = config.chat.find("default");
      json.field("chat_template", (usual ? *usual : config.chat.templates.front()).source);
      json.field("bos_token", config.chat.token("bos_token"));
      json.field("eos_token", config.chat.token("eos_token"));
    }
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
      json.key("languages");
      json.array(pipeline.vocabulary()->languages(),
                 [&](const Language& language) { json.value(language.code); });
    }
    if (decoder && config.architecture.encoder) {
      json.field("decoder_layers", decoder->layers.size());
      if (translates) json.field("target_vocab_size", decoder->vocab_size());
      json.field("max_target_length", decoder->max_length);
    } else if (config.task == Task::fill_mask) {
      const Tokenizer& vocabulary = *pipeline.vocabulary();
      json.field("mask_token", vocabulary.piece(find_mask(vocabulary).value()));
    } else if (config.task == Task::feature_extraction) {
      json.key("poolings");
      json.array(config.vectors.poolings,
                 [&](TokenPooling pooling) { json.value(to_string(pooling)); });
      json.field("normalize", config.vectors.normalize);
      json.field("similarity", name_of(config.vectors.similarity));
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

}  // namespace glassformer
