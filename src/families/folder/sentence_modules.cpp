#include "families/folder/sentence_modules.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "families/folder/model_folder.hpp"

namespace glassformer {
namespace {

constexpr const char* prompts_name = "config_sentence_transformers.json";
constexpr std::size_t most_prompts = 1000;
constexpr std::size_t largest_size = 1 << 16;

// In the order in which the library concatenates several modes.
struct Mode {
  const char* key;  // before version 5.4
  std::string_view name;
  TokenPooling pooling;
};
constexpr std::array<Mode, 6> modes = {{
    {"pooling_mode_cls_token", "cls", TokenPooling::cls},
    {"pooling_mode_max_tokens", "max", TokenPooling::max},
    {"pooling_mode_mean_tokens", "mean", TokenPooling::mean},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", TokenPooling::mean_sqrt_len},
    {"pooling_mode_weightedmean_tokens", "weightedmean", TokenPooling::weighted_mean},
    {"pooling_mode_lasttoken", "lasttoken", TokenPooling::last_token},
}};

constexpr std::array<std::pair<std::string_view, Activation>, 5> activations = {{
    {"Identity", Activation::linear},
    {"Tanh", Activation::tanh},
    {"ReLU", Activation::relu},
    {"GELU", Activation::gelu},
    {"SiLU", Activation::silu},
}};

// A JSON file of a folder.
class JsonFile {
 public:
  JsonFile(std::string name, std::string_view text)
      : name_(std::move(name)), object_(parse_json(text, source()), source(), {}, most_prompts) {}
  JsonFile(const JsonFile&) = delete;  // the object refers to the name
  JsonFile& operator=(const JsonFile&) = delete;

  JsonObject& object() { return object_; }

  bool flag(const char* key, bool fallback) {
    return present(object_.find(key)) ? object_.boolean(key) : fallback;
  }
  std::string text(const char* key, std::string_view fallback) {
    return present(object_.find(key)) ? object_.string(key) : std::string(fallback);
  }
  std::size_t size(const char* key) {
    return static_cast<std::size_t>(object_.integer(key, 1, largest_size));
  }
  [[noreturn]] void refuse(const char* key, const Message& problem) const {
    throw_error(ErrorCode::unsupported, {"{}: {}: {}", {name_, key, problem}});
  }

 private:
  JsonSource source() const { return {ErrorCode::invalid_config, name_}; }

  std::string name_;
  JsonObject object_;
};

std::string in_folder(const std::string& path, const char* name) {
  return path.empty() ? name : path + "/" + name;
}

JsonFile required_file(ModelFiles& files, const std::string& name) {
  const std::optional<std::string_view> text = files.read(name);
  if (!text) throw_error(ErrorCode::missing_file, {"{}: expected it, got none", {name}});
  return {name, *text};
}

TokenPooling pooling_of(JsonFile& file, JsonValue value) {
  for (const Mode& mode : modes) {
    if (value.is_string() && value.string() == mode.name) return mode.pooling;
  }
  file.refuse("pooling_mode", {"expected cls, max, mean, mean_sqrt_len_tokens, weightedmean, "
                               "lasttoken or a list of them, got {}; choose another model",
                               {describe(value)}});
}

// Pooling starts from the tokens' vectors. The results of earlier modules are discarded.
void read_pooling(JsonFile file, SentenceModules& modules) {
  VectorConfig& vectors = modules.vectors;
  vectors = {};
  modules.modules.clear();
  modules.weights.clear();
  vectors.include_prompt = file.flag("include_prompt", true);
  if (const JsonValue* mode = present(file.object().find("pooling_mode"))) {
    if (!mode->is_array()) {
      vectors.poolings = {pooling_of(file, *mode)};
      return;
    }
    for (JsonEntries entry(*mode); entry.next();) {
      vectors.poolings.push_back(pooling_of(file, entry.value()));
    }
    if (vectors.poolings.empty() || vectors.poolings.size() > modes.size()) {
      file.refuse("pooling_mode", "expected from one to six modes");
    }
    return;
  }
  bool said = false;
  for (const Mode& mode : modes) {
    said |= present(file.object().find(mode.key)) != nullptr;
    if (file.flag(mode.key, false)) vectors.poolings.push_back(mode.pooling);
  }
  if (!said) {
    file.refuse("pooling_mode", "expected it, or pooling_mode_mean_tokens and the like, got none");
  }
  if (vectors.poolings.empty()) vectors.poolings = {TokenPooling::mean};
}

// Checks that a module reads and writes the pooled vector.
void expect_vector(JsonFile& file) {
  for (const char* key : {"module_input_name", "module_output_name"}) {
    const std::string name = file.text(key, "sentence_embedding");
    if (name == "sentence_embedding") continue;
    file.refuse(key, {"expected \"sentence_embedding\", got {}; choose a model whose modules work "
                      "on the vector of the text",
                      {describe(name)}});
  }
}

void read_dense(JsonFile file, VectorModule& module) {
  expect_vector(file);
  module.kind = VectorModule::Kind::dense;
  module.in = file.size("in_features");
  module.out = file.size("out_features");
  module.bias = file.flag("bias", true);
  if (file.flag("use_residual", false)) {
    file.refuse("use_residual", "expected false, got true; choose a model without it");
  }
  const std::string path = file.text("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string_view name = std::string_view(path).substr(path.rfind('.') + 1);
  for (const auto& [known, activation] : activations) {
    if (name == known && path.starts_with("torch.")) {
      module.activation = activation;
      return;
    }
  }
  file.refuse("activation_function",
              {"expected torch's Identity, Tanh, ReLU, GELU or SiLU, got {}; "
               "choose another model",
               {describe(path)}});
}

// Returns the file with a module's weights.
std::string weights_of(ModelFiles& files, const std::string& path) {
  std::string name = in_folder(path, "model.safetensors");
  if (files.has(name)) return name;
  const std::string old = in_folder(path, "pytorch_model.bin");
  if (files.has(old)) {
    throw_error(ErrorCode::unsupported,
                {"{}: expected weights as {}; save the model again with "
                 "SentenceTransformer(...).save(..., safe_serialization=True)",
                 {old, name}});
  }
  throw_error(ErrorCode::missing_file, {"{}: expected it, got none", {name}});
}

void add_module(ModelFiles& files, const std::string& path, VectorModule module,
                std::string_view theirs, SentenceModules& modules) {
  std::vector<VectorModule>& all = modules.modules;
  const std::string ours = "modules." + std::to_string(all.size());
  SentenceModules::Weights weights{weights_of(files, path), {}};
  for (const char* tensor : {".weight", ".bias"}) {
    if (std::string_view(tensor) == ".bias" && !module.bias) continue;
    weights.names.emplace_back(ours + tensor, std::string(theirs) + tensor);
  }
  modules.weights.push_back(std::move(weights));
  all.push_back(module);
}

// An entry of modules.json.
struct Entry {
  std::string type;  // "sentence_transformers.models.Pooling"
  std::string path;  // of its folder; empty: this folder

  std::string_view name() const { return std::string_view(type).substr(type.rfind('.') + 1); }
};

std::vector<Entry> read_entries(std::string_view text) {
  constexpr JsonSource source{ErrorCode::invalid_config, modules_name};
  const JsonValue json = parse_json(text, source);
  if (!json.is_array()) source.fail({"expected an array, got {}", {describe(json)}});
  std::vector<Entry> entries;
  for (JsonEntries value(json); value.next();) {
    JsonObject object(value.value(), source);
    Entry entry{object.string("type"), object.find("path") ? object.string("path") : ""};
    if (entry.path.starts_with('/') || entry.path.find("..") != std::string::npos ||
        entry.path.find('\\') != std::string::npos) {
      object.fail("path", "a folder in this one", object.require("path"));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

void read_module(ModelFiles& files, const Entry& entry, SentenceModules& modules) {
  const std::string_view name = entry.name();
  const std::string& path = entry.path;
  VectorModule module;
  if (name == "Transformer") return;
  if (name == "Pooling") {
    read_pooling(required_file(files, in_folder(path, "config.json")), modules);
  } else if (name == "Normalize") {
    if (const auto text = files.read(in_folder(path, "config.json")); text && !path.empty()) {
      JsonFile file(in_folder(path, "config.json"), *text);
      expect_vector(file);
    }
    module.kind = VectorModule::Kind::normalize;
    modules.modules.push_back(module);
  } else if (name == "Dense") {
    read_dense(required_file(files, in_folder(path, "config.json")), module);
    add_module(files, path, module, "linear", modules);
  } else if (name == "LayerNorm") {
    module.kind = VectorModule::Kind::layer_norm;
    module.in = module.out = required_file(files, in_folder(path, "config.json")).size("dimension");
    add_module(files, path, module, "norm", modules);
  } else {
    throw_error(ErrorCode::unsupported,
                {"modules.json: expected the modules Transformer, Pooling, Dense, LayerNorm and "
                 "Normalize, got {}; choose a model without it",
                 {describe(entry.type)}});
  }
}

// The first of these files that exists is used.
void read_limits(ModelFiles& files, SentenceModules& modules) {
  for (const char* name : {"sentence_bert_config.json", "sentence_roberta_config.json",
                           "sentence_distilbert_config.json", "sentence_camembert_config.json",
                           "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
                           "sentence_xlnet_config.json"}) {
    const std::optional<std::string_view> text = files.read(name);
    if (!text) continue;
    JsonFile file(name, *text);
    const JsonValue* length = file.object().find("max_seq_length");
    if (length && length->is_whole()) {
      modules.max_seq_length = static_cast<std::size_t>(length->whole());
    }
    modules.lower_case = file.flag("do_lower_case", false);
    return;
  }
}

void read_prompts(ModelFiles& files, VectorConfig& vectors) {
  const std::optional<std::string_view> text = files.read(prompts_name);
  if (!text) return;
  JsonFile file(prompts_name, *text);
  if (const JsonValue* prompts = present(file.object().find("prompts"))) {
    if (!prompts->is_object() || count_entries(*prompts) > most_prompts) {
      file.object().fail("prompts", "an object of at most 1000 texts", *prompts);
    }
    for (JsonEntries entry(*prompts); entry.next();) {
      if (!entry.value().is_string()) file.object().fail("prompts", "texts", entry.value());
      vectors.prompts.emplace_back(entry.key(), entry.value().string());
    }
  }
  const std::string similarity = file.text("similarity_fn_name", "cosine");
  const auto& names = enum_names<Similarity>;
  const auto known = std::ranges::find(names, std::string_view(similarity));
  if (known == names.end()) {
    file.refuse("similarity_fn_name", {"expected cosine, dot, euclidean or manhattan, got {}",
                                       {describe(std::string_view(similarity))}});
  }
  vectors.similarity = static_cast<Similarity>(known - names.begin());
  vectors.default_prompt = file.text("default_prompt_name", "");
  if (vectors.default_prompt.empty() || vectors.find_prompt(vectors.default_prompt)) return;
  file.object().fail("default_prompt_name", "the name of a prompt",
                     file.object().require("default_prompt_name"));
}

}  // namespace

std::string transformer_folder(ModelFiles& files) {
  const std::optional<std::string_view> text = files.read(modules_name);
  if (!text) return {};
  for (Entry& entry : read_entries(*text)) {
    if (entry.name() == "Transformer") return std::move(entry.path);
  }
  return {};
}

std::optional<SentenceModules> read_sentence_modules(ModelFiles& files, ModelFiles& transformer) {
  const std::optional<std::string_view> text = files.read(modules_name);
  if (!text) return std::nullopt;
  SentenceModules modules;
  for (const Entry& entry : read_entries(*text)) read_module(files, entry, modules);
  VectorConfig& vectors = modules.vectors;
  if (vectors.poolings.empty()) vectors.poolings = {TokenPooling::mean};
  // A call can turn off normalization to length 1.
  std::vector<VectorModule>& steps = modules.modules;
  while (!steps.empty() && steps.back().kind == VectorModule::Kind::normalize) {
    vectors.normalize = true;
    steps.pop_back();
  }
  read_limits(transformer, modules);
  read_prompts(files, vectors);
  return modules;
}

}  // namespace glassformer
