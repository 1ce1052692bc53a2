#include "families/folder/model_folder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/limits.hpp"
#include "base/strings/wildcard.hpp"
#include "families/config/generation_config.hpp"
#include "families/folder/folder_tokenizers.hpp"
#include "families/folder/sentence_modules.hpp"
#include "families/linked.hpp"
#include "families/weight_names.hpp"
#include "text/hub/named_tokens.hpp"

namespace glassformer {
namespace {

constexpr const char* config_name = "config.json";
constexpr const char* weights_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

std::set<std::string> names_in(std::span<const SafetensorsHeader> headers) {
  std::set<std::string> names;
  for (const SafetensorsHeader& header : headers) {
    for (const TensorInfo& tensor : header.tensors()) names.insert(tensor.name);
  }
  return names;
}

// Returns the files that an index names, sorted by their names, which include numbers.
std::vector<std::string> files_of_index(std::string_view text) {
  constexpr JsonSource source{ErrorCode::invalid_safetensors, index_name};
  const JsonValue json = parse_json(text, source);
  JsonObject object(json, source);
  const JsonValue& map = object.require("weight_map");
  if (!map.is_object()) object.fail("weight_map", "an object", map);
  constexpr std::size_t most_files = 512;  // the largest models have 200
  std::set<std::string> files;
  for (JsonEntries entry(map); entry.next();) {
    const std::string file = entry.value().is_string() ? entry.value().string() : "";
    if (file.empty() || file.find_first_of("/\\") != std::string::npos || file.starts_with('.')) {
      object.fail("weight_map", "names of files in this folder", entry.value());
    }
    files.insert(file);
    if (files.size() > most_files) {
      object.fail("weight_map", {"expected at most {} files, got more", {most_files}});
    }
  }
  if (files.empty()) object.fail("weight_map", "expected at least one tensor, got none");
  return {files.begin(), files.end()};
}

constexpr std::string_view merge =
    "a whole model, got an adapter (LoRA); merge it into its base model with merge_and_unload() "
    "and save that";
constexpr std::string_view save_again =
    "weights as model.safetensors; save the model again with save_pretrained(..., "
    "safe_serialization=True), or look on the Hub for a revision refs/pr/N that holds a conversion";
constexpr std::string_view load_original =
    "weights as model.safetensors, which cannot be made of this file; load the model that it was "
    "made from, with compute \"int8\" where it should be small";
constexpr std::string_view rename =
    "weights under the name model.safetensors, or parts that model.safetensors.index.json names";

// File names of another format. "*" matches any characters.
struct OtherFormat {
  const char* name;
  std::string_view expected;
};
constexpr std::array adapters = {OtherFormat{"adapter_config.json", merge}};
constexpr std::array other_formats = {
    OtherFormat{"pytorch_model.bin", save_again},
    OtherFormat{"pytorch_model.bin.index.json", save_again},
    OtherFormat{"tf_model.h5", save_again},
    OtherFormat{"flax_model.msgpack", save_again},
    OtherFormat{"model.onnx", load_original},
    OtherFormat{"onnx/model.onnx", load_original},
    OtherFormat{"onnx/model_quantized.onnx", load_original},
    OtherFormat{"model.gguf", load_original},
    OtherFormat{"pytorch_model*.bin", save_again},
    OtherFormat{"*.h5", save_again},
    OtherFormat{"*.msgpack", save_again},
    OtherFormat{"*.ckpt", save_again},
    OtherFormat{"*.pt", save_again},
    OtherFormat{"*.pth", save_again},
    OtherFormat{"*.onnx", load_original},
    OtherFormat{"onnx*", load_original},  // the folder, if only its name is known
    OtherFormat{"*.gguf", load_original},
    OtherFormat{"*.tflite", load_original},
};
constexpr std::array other_names = {OtherFormat{"*.safetensors", rename}};

// Throws for the first of these formats that is found. Files on a server cannot be listed, so only
// complete names are tried there.
void refuse(ModelFiles& files, std::span<const OtherFormat> formats) {
  const std::vector<std::string> names = files.names();
  std::vector<const char*> asked;
  for (const OtherFormat& format : formats) {
    if (!std::strchr(format.name, '*')) asked.push_back(format.name);
  }
  files.prepare({}, asked);
  for (const auto& [pattern, expected] : formats) {
    std::string_view found;
    for (const std::string& name : names) {
      if (found.empty() && fits_wildcards(pattern, name)) found = name;
    }
    if (std::ranges::find(asked, pattern) != asked.end() && files.has(pattern)) found = pattern;
    if (found.empty()) continue;
    throw_error(ErrorCode::unsupported, {"{}: expected {}", {found, expected}});
  }
}

// A subfolder of a folder.
constexpr std::string_view setfit_head = "model_head.pkl";

class Subfolder final : public ModelFiles {
 public:
  Subfolder(ModelFiles& files, std::string_view path) : files_(files), path_(path) {}

  std::optional<std::string_view> read(std::string_view name) override {
    return files_.read(in_whole(name));
  }
  bool has(std::string_view name) override { return files_.has(in_whole(name)); }
  std::vector<std::string> names() override {
    std::vector<std::string> names;
    for (const std::string& name : files_.names()) {
      if (name.starts_with(path_)) names.push_back(name.substr(path_.size()));
    }
    return names;
  }
  void prepare(std::span<const char* const> read, std::span<const char* const> found) override {
    std::vector<std::string> names;
    for (const auto& list : {read, found}) {
      for (const char* name : list) names.push_back(in_whole(name));
    }
    std::vector<const char*> whole;
    for (const std::string& name : names) whole.push_back(name.c_str());
    files_.prepare(std::span(whole).first(read.size()), std::span(whole).subspan(read.size()));
  }

 private:
  std::string in_whole(std::string_view name) const { return std::string(path_).append(name); }

  ModelFiles& files_;
  std::string_view path_;  // with a slash at its end
};

// `folder` is the path of these files in the folder that was opened: empty, or with a slash at its
// end.
[[noreturn]] void refuse_without_config(ModelFiles& files, std::string_view folder) {
  if (const std::optional<std::string_view> config = files.read(config_name)) {
    constexpr JsonSource source{config_limit.code, config_limit.name};
    const JsonValue json = parse_json(*config, source);
    JsonObject(json, source, {}, HubConfig::most_fields).require("model_type");
  }
  refuse(files, adapters);
  if (!files.names().empty()) {
    refuse(files, other_formats);
    // Such a folder may hold a container, which is found by listing the files.
    if (linked_families.containers.empty()) throw NotLinked();
  }
  throw_error(ErrorCode::missing_file,
              {"{}config.json: expected a model's configuration, got none", {folder}});
}

// Throws for files beside a whole model that the library reads in addition, where files can be
// listed: an adapter, and what makes vectors of a model that writes.
void refuse_beside(ModelFiles& files, bool encodes) {
  const std::vector<std::string> names = files.names();
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (has(adapters[0].name)) {
    throw_error(ErrorCode::unsupported, {"{}: expected {}", {adapters[0].name, merge}});
  }
  if (has(modules_name) && !encodes) {
    throw_error(ErrorCode::unsupported,
                {"{}: expected a Transformer that reads texts as a whole, got one that writes; "
                 "vectors of such models are not supported",
                 {modules_name}});
  }
}

}  // namespace

ModelFolder::ModelFolder(ModelFiles& files) {
  if (FolderFiles found; (family_ = find_container(files, found))) {
    read_container(files, found);
    return;
  }
  files.prepare(std::array{config_name}, std::array{weights_name});
  const bool found = read_config(files, files);
  if (found) refuse_beside(files, encodes_ || reads_pictures());
  const bool may_have_modules = !reads_pictures() && (!found || encodes_);
  const std::string path = may_have_modules ? transformer_folder(files) : "";
  if (path.empty()) {
    if (!found) refuse_without_config(files, folder_);
    read_model(files, files);
    return;
  }
  folder_ = path + "/";
  Subfolder folder(files, folder_);
  if (!read_config(folder, files)) refuse_without_config(folder, folder_);
  if (!encodes_) {
    throw_error(
        ErrorCode::unsupported,
        {"modules.json: expected a Transformer that gives vectors, got one in {} that writes "
         "texts; open that folder",
         {describe(path)}});
  }
  read_model(folder, files);
}

bool ModelFolder::read_config(ModelFiles& files, ModelFiles& all) {
  const std::optional<std::string_view> config = files.read(config_name);
  if (!config) return false;
  config_ = *config;
  constexpr JsonSource source{config_limit.code, config_limit.name};
  const JsonValue json = parse_json(config_, source);
  JsonObject object(json, source, {}, HubConfig::most_fields);
  if (object.find("format")) return true;
  if (present(object.find("quantization_config"))) {
    throw_error(ErrorCode::unsupported,
                "config.json: quantization_config: expected weights that are not quantized; load "
                "the original model, with compute \"int8\" to have it quantized here");
  }
  const bool own_code = present(object.find("auto_map")) != nullptr;
  const bool named = present(object.find("model_type"));
  if (!named && !own_code) return false;
  family_ = &find_family(named ? object.string("model_type") : std::string(), own_code);
  if (reads_pictures()) {
    files.prepare(std::array{processor_name, picture_steps_name});
    encodes_ = true;
    const std::string_view only = family_->only_pictures;
    reads_texts_ = !only.empty() && !HubConfig::names_class(object, only);
    if (reads_only_pictures()) return true;
  }
  std::vector<const char*> more;
  if (family_->writes) more.push_back(generation_config_name);
  const bool may_embed = !family_->pictures && (!family_->writes || family_->read_reader);
  if (may_embed) more.push_back(modules_name);
  all.prepare(more);
  files.prepare(std::array{"tokenizer_config.json", "tokenizer.json"});
  encodes_ = !family_->writes;
  const JsonValue* both = object.find("is_encoder_decoder");
  chats_ = family_->writes && (!both || both->text() != "true");
  if (!encodes_ && family_->read_reader) {
    encodes_ = HubConfig::names_class(object, family_->reader) || all.read(modules_name);
  }
  if (!encodes_ && !all_linked()) throw NotLinked();
  return true;
}

void ModelFolder::read_model(ModelFiles& files, ModelFiles& all) {
  find_weights(files);
  if (reads_pictures()) {
    read_picture_steps(files);
    if (!reads_only_pictures()) read_tokenizers(files);
    return;
  }
  if (family_ && !encodes_) {
    if (const auto text = files.read(generation_config_name)) generation_ = *text;
  } else if (family_) {
    modules_ = read_sentence_modules(all, files);
    const std::vector<std::string> names = all.names();
    has_setfit_ = std::ranges::find(names, setfit_head) != names.end();
    if (modules_) {
      for (const SentenceModules::Weights& module : modules_->weights) {
        weight_files_.push_back(module.file);
      }
    }
  }
  read_tokenizers(files);
}

void ModelFolder::read_container(ModelFiles& files, const FolderFiles& found) {
  weight_files_ = {found.weights};
  if (!found.shortlist.empty()) {
    shortlist_ = found.shortlist;
    renamed_.push_back({default_shortlist, shortlist_});
  }
  source_language_ = found.source_language;
  target_language_ = found.target_language;
  const bool two = !found.target.empty();
  renamed_.push_back({two ? "source.model" : "tokenizer.model", found.source});
  if (two) renamed_.push_back({"target.model", found.target});
  take(glassformer::read_tokenizers(files, found));
}

void ModelFolder::take_config(std::string_view text) { config_ = family_->container->config(text); }

void ModelFolder::find_weights(ModelFiles& files) {
  if (files.has(weights_name)) {
    weight_files_ = {folder_ + weights_name};
    return;
  }
  if (!family_) {
    throw_error(ErrorCode::missing_file, {"{}: expected it, got none", {weights_name}});
  }
  const std::optional<std::string_view> index = files.read(index_name);
  if (!index) {
    refuse(files, adapters);
    refuse(files, other_formats);
    if (!files.names().empty()) refuse(files, other_names);
    throw_error(ErrorCode::missing_file,
                {"{}: expected it, or {}, got neither", {weights_name, index_name}});
  }
  for (const std::string& file : files_of_index(*index)) weight_files_.push_back(folder_ + file);
}

void ModelFolder::read_picture_steps(ModelFiles& files) {
  if (family_) {
    if (const auto text = files.read(processor_name)) {
      expect_within({processor_name, picture_steps_limit.code, picture_steps_limit.max_bytes},
                    text->size());
      const JsonSource source{ErrorCode::invalid_config, processor_name};
      const JsonValue json = parse_json(*text, source);
      JsonObject object(json, source, {}, HubConfig::most_fields);
      if (const JsonValue* steps = present(object.find(processor_field))) {
        picture_steps_ = steps->text();
        picture_steps_file_ = processor_name;
        return;
      }
    }
  }
  const std::optional<std::string_view> text = files.read(picture_steps_name);
  if (!text) return;
  expect_within(picture_steps_limit, text->size());
  picture_steps_ = *text;
}

void ModelFolder::read_tokenizers(ModelFiles& files) {
  if (family_) read_tokenizer_config(files);
  tokenizer_class_ = usual_tokenizer_class(config_);
  if (family_ && chats_) read_chat(files, tokenizer_class_);
  TokenizerFacts facts;
  facts.usual_class = tokenizer_class_;
  facts.lower_case = modules_ && modules_->lower_case;
  if (family_) facts.two = family_->two_tokenizers;
  if (!family_) {
    const ModelConfig config = parse_config(config_);
    if (glassformer::reads_pictures(config)) read_picture_steps(files);
    if (!needs_tokenizer(config)) return;
    // Our own folders have SentencePiece models, unless they were converted from others.
    facts.sentencepiece = !config.tokenizer_template;
    facts.class_of_merges = merges_class(config.task);
    if (config.task != Task::translation) facts.two = false;
    chats_ = config.task == Task::text_generation && !facts.sentencepiece;
    if (chats_) read_chat(files, config.tokenizer_class);
  }
  take(glassformer::read_tokenizers(files, facts));
}

void ModelFolder::take(FolderTokenizers tokenizers) {
  tokenizer_ = std::move(tokenizers.source);
  target_tokenizer_ = std::move(tokenizers.target);
}

void ModelFolder::read_tokenizer_config(ModelFiles& files) {
  const std::optional<std::string_view> text = files.read("tokenizer_config.json");
  if (!text) return;
  constexpr JsonSource source{ErrorCode::invalid_tokenizer, "tokenizer_config.json"};
  const JsonValue json = parse_json(*text, source);
  JsonObject object(json, source);
  const JsonValue* length = object.find("model_max_length");
  if (!length) length = object.find("max_len");  // its name before 2020
  // Some have 1e30, which means no limit.
  if (length && length->is_whole() && length->whole() <= (1 << 20)) {
    model_max_length_ = static_cast<std::size_t>(length->whole());
  }
  const auto read_language = [&](const char* key, std::string& language) {
    const JsonValue* name = object.find(key);
    if (name && name->is_string() && !name->string().empty()) language = name->string();
  };
  for (const char* key : {"source_lang", "src_lang"}) read_language(key, source_language_);
  for (const char* key : {"target_lang", "tgt_lang"}) read_language(key, target_language_);
}

// As the original library does: if there are files with templates, those in tokenizer_config.json
// do not count.
void ModelFolder::read_chat(ModelFiles& files, std::string_view usual_class) {
  if (!linked_families.writing) return;
  if (const auto text = files.read(chat_template_name)) {
    chat_.templates.push_back({"default", std::string(*text)});
  }
  const std::string folder = std::string(more_chat_templates) + "/";
  constexpr std::string_view kind = ".jinja";
  std::vector<std::string> names = files.names();
  // If files cannot be listed, the one that is chosen by itself may be there.
  if (names.empty() && !chat_.templates.empty()) names.push_back(folder + "tool_use.jinja");
  for (const std::string& name : names) {
    if (!name.starts_with(folder) || !name.ends_with(kind)) continue;
    if (const auto text = files.read(name)) {
      const std::size_t end = name.size() - kind.size();
      chat_.templates.push_back(
          {name.substr(folder.size(), end - folder.size()), std::string(*text)});
    }
  }
  const std::optional<std::string_view> text = files.read("tokenizer_config.json");
  if (text && chat_.templates.empty()) {
    constexpr JsonSource source{ErrorCode::invalid_tokenizer, "tokenizer_config.json"};
    JsonObject config(parse_json(*text, source), source);
    const JsonValue* given = config.find("chat_template");
    if (given && given->is_string()) {
      chat_.templates.push_back({"default", given->string()});
    } else if (given && given->is_array()) {
      for (JsonEntries entry(*given); entry.next();) {
        JsonObject named(entry.value(), source, "chat_template");
        chat_.templates.push_back({named.string("name"), named.string("template")});
      }
    }
  }
  if (chat_.templates.empty()) return;
  const TokenizerConfig config([&](std::string_view name) { return files.read(name); });
  chat_.tokens = named_tokens(config, usual_class);
}

namespace {

// Returns the steps before a model of this size, for a folder with or without their file.
PictureSteps steps_for(const PatchInput& input, const std::optional<std::string>& file,
                       const char* name, PictureProcessor usual) {
  if (file) return read_picture_steps(*file, usual, name);
  PictureSteps steps = usual_picture_steps(usual);
  const PictureSteps::Size size = {input.height, input.width};
  if (steps.final_size() == size) return steps;
  if (steps.shortest_edge) {
    steps.shortest_edge = std::max(size.height, size.width);
    steps.crop = size;
    return steps;
  }
  steps.size = size;
  steps.crops = false;
  return steps;
}

}  // namespace

ModelConfig ModelFolder::config(std::span<const SafetensorsHeader> headers,
                                std::span<const Task> wanted) const {
  ModelConfig config;
  if (family_) {
    const Tokenizer* target = (target_tokenizer_ ? target_tokenizer_ : tokenizer_).get();
    const std::size_t modules = modules_ ? modules_->weights.size() : 0;
    HubConfig hub(config_, headers.first(headers.size() - modules), target,
                  family_->container ? family_->container->config_name : config_limit.name);
    config = family_->writes && encodes_ ? family_->read_reader(hub) : family_->read(hub);
    const bool vectors =
        modules_ || std::ranges::find(wanted, Task::feature_extraction) != wanted.end();
    if (vectors && config.task == Task::fill_mask) hub.leave_out_head(config);
  } else {
    config = parse_config(config_);
    if (!chat_.templates.empty()) config.chat = chat_;
  }
  if (glassformer::reads_pictures(config)) {
    const PictureProcessor usual = family_ ? *family_->pictures : PictureProcessor();
    config.pictures = steps_for(std::get<PatchInput>(config.encoder().input), picture_steps_,
                                picture_steps_file_, usual);
    if (!needs_tokenizer(config)) return config;
  }
  if (!family_) return config;
  if (config.tokenizer_template && !family_->container) {
    config.tokenizer_class = tokenizer_class_;
  }
  if (writes(config.task)) {
    const Tokenizer& target = target_tokenizer_ ? *target_tokenizer_ : *tokenizer_;
    linked_families.writing->complete(config, generation_, target);
    if (!chat_.templates.empty()) config.chat = chat_;
  }
  if (config.task == Task::translation) {
    config.source_language = source_language_;
    config.target_language = target_language_;
    return config;
  }
  std::size_t limit = model_max_length_;
  if (has_setfit_ && !wanted.empty() &&
      std::ranges::find(wanted, Task::feature_extraction) == wanted.end()) {
    throw_error(ErrorCode::unsupported,
                {"{}: expected no classifier of SetFit, whose head is pickled; only the vectors of "
                 "its model can be computed",
                 {setfit_head}});
  }
  if (modules_ && config.task == Task::feature_extraction) {
    config.vectors = modules_->vectors;
    config.unused_head.clear();  // the folder is meant to output vectors
    config.architecture.head.modules = modules_->modules;
    const std::size_t pooled = config.vectors.poolings.size() * config.encoder().d_model;
    const std::string problem = sizes_problem(modules_->modules, pooled);
    if (!problem.empty()) throw_error(ErrorCode::invalid_config, {"modules.json: {}", {problem}});
    if (modules_->max_seq_length > 0) limit = modules_->max_seq_length;
  }
  // A text to continue is truncated at its beginning, and only if there are not enough positions
  // for it.
  if (!config.architecture.encoder) return config;
  if (tokenizer_->truncation_side() == TruncationSide::left) config.clip = Clip::beginning;
  if (limit > 0 && limit < config.reader().max_length) config.max_tokens = limit;
  return config;
}

WeightsLoader ModelFolder::loader(std::span<const SafetensorsHeader> headers,
                                  std::vector<NamedParameter> parameters) const {
  std::vector<SafetensorsHeader> files(headers.begin(), headers.end());
  if (!family_) return {std::move(files), std::move(parameters)};
  const std::size_t modules = modules_ ? modules_->weights.size() : 0;
  const std::span own = headers.first(headers.size() - modules);
  std::set<std::string> integers;
  for (const SafetensorsHeader& header : own) {
    for (const TensorInfo& tensor : header.tensors()) {
      if (family_->container && tensor.dtype == DType::i8) integers.insert(tensor.name);
    }
  }
  // The names of the modules' files may be equal in different folders.
  std::vector<NamedParameter> of_modules;
  for (std::size_t i = 0; i < modules; ++i) {
    const SentenceModules::Weights& module = modules_->weights[i];
    SafetensorsHeader& file = files[own.size() + i];
    file = file.with_prefix(module.file + ": ");
    for (const auto& [ours, theirs] : module.names) {
      const auto found = std::ranges::find(parameters, ours, &NamedParameter::name);
      if (found == parameters.end()) continue;
      found->name = module.file + ": " + theirs;
      of_modules.push_back(std::move(*found));
      parameters.erase(found);
    }
  }
  std::vector<NamedParameter> theirs =
      in_family_names(std::move(parameters), *family_, names_in(own), integers);
  theirs.insert(theirs.end(), std::make_move_iterator(of_modules.begin()),
                std::make_move_iterator(of_modules.end()));
  return {std::move(files), std::move(theirs), [](const std::string&) { return true; }};
}

}  // namespace glassformer
