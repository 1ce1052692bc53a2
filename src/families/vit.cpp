#include "families/published_pictures.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/json/json_writer.hpp"
#include "families/family.hpp"
#include "families/weight_names.hpp"

// The Vision Transformer (Dosovitskiy et al. 2021), and DeiT (Touvron et al. 2021), which has a
// second learned row before the patches, the distillation token. Both classify pictures.

namespace glassformer {
namespace {
namespace vit_parts {

constexpr std::array vit_types = {Family::Type{"vit", ""}};
constexpr std::array deit_types = {Family::Type{"deit", ""}};

constexpr std::array tensors = {
    TensorName{"embeddings.cls_token", "encoder.class_token"},
    TensorName{"embeddings.distillation_token", "encoder.distillation_token"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions.weight"},
    TensorName{"embeddings.patch_embeddings.projection", "encoder.embed_patches"},
    TensorName{"encoder.layer.#.layernorm_before", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.layer.#.attention.attention.query", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.layer.#.attention.attention.key", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.layer.#.attention.attention.value", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.layer.#.attention.output.dense", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.layer.#.layernorm_after", "encoder.layers.#.final_layer_norm"},
    TensorName{"encoder.layer.#.intermediate.dense", "encoder.layers.#.fc1"},
    TensorName{"encoder.layer.#.output.dense", "encoder.layers.#.fc2"},
    TensorName{"layernorm", "encoder.layer_norm"},
};

// The second name for our classifier is that of a model with a teacher.
constexpr std::array heads = {
    TensorName{"classifier", "classifier"},
    TensorName{"cls_classifier", "classifier"},
    TensorName{"distillation_classifier", "distillation_classifier"},
};

constexpr std::array keys = {
    ConfigKey{"num_channels", "channels", "3"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"hidden_size", "d_model", "768"},
    ConfigKey{"num_attention_heads", "n_heads", "12"},
    ConfigKey{"intermediate_size", "d_ff", "3072"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-12"},
    ConfigKey{"hidden_act", "activation", "\"gelu\""},
    ConfigKey{"qkv_bias", "attention_bias", "true"},
};

ModelConfig read(HubConfig& config, bool distillation_token) {
  const auto [height, width] = config.sides("image_size", 224);
  const auto [patch_height, patch_width] = config.sides("patch_size", 16);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace();
  stack.input = PatchInput{.height = height,
                           .width = width,
                           .patch_height = patch_height,
                           .patch_width = patch_width,
                           .distillation_token = distillation_token};
  LayerConfig layer;
  layer.attention.out_bias = true;
  stack.layers = {layer};
  stack.final_norm = true;
  config.read(stack, {.keys = keys, .layer_tensors = "encoder.layer."});
  config.read_picture_classes(model);
  config.finish(model);
  return model;
}

ModelConfig read_vit(HubConfig& config) { return read(config, false); }
ModelConfig read_deit(HubConfig& config) { return read(config, true); }

}  // namespace vit_parts
}  // namespace

extern const Family vit = {.model_types = vit_parts::vit_types,
                           .prefix = "vit.",
                           .tensors = vit_parts::tensors,
                           .heads = vit_parts::heads,
                           .read = vit_parts::read_vit,
                           .pictures = PictureProcessor::vit};

extern const Family deit = {.model_types = vit_parts::deit_types,
                            .prefix = "deit.",
                            .tensors = vit_parts::tensors,
                            .heads = vit_parts::heads,
                            .read = vit_parts::read_deit,
                            .pictures = PictureProcessor::deit};

namespace {

// Writes the fields of a stack that have a key.
class KeyedWriter final : public Fields {
 public:
  explicit KeyedWriter(JsonWriter& json) : json_(json) {}

  bool has(const char*, bool present) override { return present; }
  void size(const char* name, std::size_t& value, const SizeRule&, std::size_t) override {
    write(name, value);
  }
  void number(const char* name, float& value, NumberRange) override { write(name, value); }
  void flag(const char* name, bool& value, AbsentFlag) override { write(name, value); }
  void choose(const char* name, std::size_t& value, EnumNames, std::size_t) override {
    write(name, activation_name(static_cast<Activation>(value)));  // no other choice has a key
  }
  void text(const char*, std::string&) override {}
  void texts(const char*, std::vector<std::string>&, std::size_t) override {}
  void refuse(const char*, const char*) override {}
  void enter_layer(std::size_t index, std::size_t) override { first_layer_ = index == 0; }
  void leave_layers() override { first_layer_ = true; }

 private:
  void write(std::string_view name, const auto& value) {
    const auto key = std::ranges::find(vit_parts::keys, name, &ConfigKey::ours);
    if (key != vit_parts::keys.end() && first_layer_) json_.field(key->theirs, value);
  }

  JsonWriter& json_;
  bool first_layer_ = true;  // later ones must be the same
};

void write_sides(JsonWriter& json, const char* key, std::size_t height, std::size_t width) {
  json.key(key);
  if (height == width) return json.value(height);
  json.array(std::array{height, width}, [&](std::size_t side) { json.value(side); });
}

void write_labels(JsonWriter& json, const ModelConfig& config) {
  json.key("id2label");
  json.object([&] {
    for (std::size_t i = 0; i < config.labels.size(); ++i) {
      json.field(std::to_string(i), config.labels[i]);
    }
  });
  json.key("label2id");
  json.object([&] {
    for (std::size_t i = 0; i < config.labels.size(); ++i) json.field(config.labels[i], i);
  });
  if (config.scoring == Scoring::raw) json.field("problem_type", "regression");
  if (config.scoring == Scoring::sigmoid) {
    json.field("problem_type", "multi_label_classification");
  }
}

const Family& family_of(const ModelConfig& config) {
  return std::get<PatchInput>(config.encoder().input).distillation_token ? deit : vit;
}

}  // namespace

std::string published_config(const ModelConfig& config) {
  StackConfig stack = config.encoder();  // a visitor needs a mutable object
  const PatchInput& input = std::get<PatchInput>(stack.input);
  const bool distilled = config.architecture.head.distilled;
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    const std::string name = input.distillation_token ? "DeiT" : "ViT";
    json.key("architectures");
    json.array(std::array{name + "ForImageClassification" + (distilled ? "WithTeacher" : "")},
               [&](const std::string& each) { json.value(each); });
    json.field("model_type", family_of(config).model_types[0].name);
    write_sides(json, "image_size", input.height, input.width);
    write_sides(json, "patch_size", input.patch_height, input.patch_width);
    KeyedWriter writer(json);
    fields(writer, stack);
    write_labels(json, config);
  });
  std::string text = json.take() + "\n";
  HubConfig read(text, {}, nullptr);
  ModelConfig same = family_of(config).read(read);
  same.pictures = config.pictures;
  if (same != config) {
    throw_error(ErrorCode::unsupported,
                "expected a model in the form of ViT or DeiT, got one with other layers or another "
                "head");
  }
  return text;
}

std::vector<NamedParameter> in_published_names(std::vector<NamedParameter> parameters,
                                               const ModelConfig& config) {
  const Family& family = family_of(config);
  // These names decide which of several possible ones a parameter gets.
  std::set<std::string> names = {std::string(family.prefix)};
  if (config.architecture.head.distilled) {
    names.insert({"cls_classifier.weight", "cls_classifier.bias"});
  }
  std::vector<NamedParameter> named = in_family_names(std::move(parameters), family, names);
  for (NamedParameter& parameter : named) {
    if (!parameter.stored.empty()) parameter.shape = parameter.stored;
  }
  return named;
}

}  // namespace glassformer
