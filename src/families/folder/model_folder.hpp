#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "families/family.hpp"
#include "families/folder/sentence_modules.hpp"
#include "text/tokenizer.hpp"
#include "weights/loader.hpp"

namespace glassformer {

struct FolderTokenizers;

/// The name of the shortlist in our own folders.
inline constexpr const char* default_shortlist = "shortlist.bin";

/// The file with a template of chats, in newer folders.
inline constexpr const char* chat_template_name = "chat_template.jinja";

/// The folder of further templates, such as tool_use.jinja.
inline constexpr const char* more_chat_templates = "additional_chat_templates";

/// The files of a folder in any kind of storage.
/// Thrown by files that are handed in one by one (see wasm/binding.hpp) if one is requested whose
/// existence or content is unknown. The work is retried once the caller has supplied it.
struct FilesWanted {};

class ModelFiles {
 public:
  virtual ~ModelFiles() = default;
  /// Returns a file's bytes, or nothing if it does not exist. They stay valid as long as this
  /// object.
  virtual std::optional<std::string_view> read(std::string_view name) = 0;
  virtual bool has(std::string_view name) = 0;
  /// Returns the names of all files, or nothing if they cannot be listed, as on a server.
  virtual std::vector<std::string> names() { return {}; }
  /// Announces files that will probably be read, and others whose existence will be checked. An
  /// implementation that downloads files can fetch them together.
  virtual void prepare(std::span<const char* const> /*read*/,
                       std::span<const char* const> /*found*/ = {}) {}
};

/// A model folder, ours or a published checkpoint. Finds out which model it holds and loads it. Use
/// it in this order:
///
///     ModelFolder folder(files);
///     headers = the headers of folder.weight_files(); if they are a TensorContainer,
///               folder.take_config(the bytes of its config)
///     config = folder.config(headers)
///     parameters = those of the model that `config` describes
///     loader = folder.loader(headers, parameters)
class ModelFolder {
 public:
  /// Reads everything except the weights. Throws `missing_file` for a folder without configuration
  /// or weights, and `unsupported` for an unknown model or, with a suggestion, for weights in
  /// another format. Also throws the tokenizer's errors.
  explicit ModelFolder(ModelFiles& files);

  /// Returns the names of the safetensors files, in order, or of the one TensorContainer.
  const std::vector<std::string>& weight_files() const { return weight_files_; }
  /// Returns whether the folder is as its makers published it, rather than in our own format.
  bool is_published() const { return family_ != nullptr; }
  bool has_container() const { return family_ && family_->container; }
  void take_config(std::string_view text);
  /// Returns the text of config.json, or the container's configuration as JSON.
  const std::string& config_text() const { return config_; }
  /// Returns the name of the file with the shortlist, if there is one.
  const std::string& shortlist() const { return shortlist_; }
  /// A file of a folder with a container, and its name in our own folders.
  struct Renamed {
    std::string ours, theirs;
  };
  const std::vector<Renamed>& renamed() const { return renamed_; }

  /// Returns the model's configuration. If vectors are wanted, those of a published model that
  /// fills masks are computed without its head. Throws as parse_config and HubConfig do.
  ModelConfig config(std::span<const SafetensorsHeader> headers,
                     std::span<const Task> wanted = {}) const;

  /// Creates the loader of the weights. Throws as WeightsLoader does.
  WeightsLoader loader(std::span<const SafetensorsHeader> headers,
                       std::vector<NamedParameter> parameters) const;

  /// Returns the subfolder that holds the model, with a slash at its end, or an empty string if it
  /// is this folder.
  const std::string& folder() const { return folder_; }

  /// Transfers ownership of the tokenizers. Call each once. The tokenizer is null if the model
  /// needs none. The target tokenizer is null if translations use the same tokenizer as the source
  /// texts.
  std::unique_ptr<Tokenizer> take_tokenizer() { return std::move(tokenizer_); }
  std::unique_ptr<Tokenizer> take_target_tokenizer() { return std::move(target_tokenizer_); }
  /// Valid until the tokenizer is taken. Null as above.
  const Tokenizer* tokenizer() const { return tokenizer_.get(); }
  const Tokenizer* target_tokenizer() const { return target_tokenizer_.get(); }

 private:
  // Returns whether the family reads pictures.
  bool reads_pictures() const { return family_ && family_->pictures; }
  void read_container(ModelFiles& files, const FolderFiles& found);
  // `all` is the folder that holds `files`; it may be the same. Returns false if config.json is
  // absent or does not define the model.
  bool read_config(ModelFiles& files, ModelFiles& all);
  void read_model(ModelFiles& files, ModelFiles& all);
  void find_weights(ModelFiles& files);
  void read_picture_steps(ModelFiles& files);
  // Returns whether the family reads pictures, and nothing else.
  bool reads_only_pictures() const { return reads_pictures() && !reads_texts_; }
  void read_tokenizers(ModelFiles& files);
  void take(FolderTokenizers tokenizers);
  void read_tokenizer_config(ModelFiles& files);
  void read_chat(ModelFiles& files, std::string_view usual_class);

  std::string config_;              // config.json, or the container's configuration
  const Family* family_ = nullptr;  // null: our own format
  bool encodes_ = false;            // the family's model is an encoder
  bool chats_ = false;              // it only has a decoder
  bool reads_texts_ = false;        // a model that reads pictures reads texts, too
  std::string folder_;              // of the Transformer: "0_Transformer/"; empty: this folder
  std::vector<std::string> weight_files_;
  std::string shortlist_ = default_shortlist;
  std::vector<Renamed> renamed_;
  std::optional<std::string> generation_;  // generation_config.json
  ChatConfig chat_;
  std::optional<SentenceModules> modules_;
  bool has_setfit_ = false;                   // a classifier on top of them, which is not supported
  std::optional<std::string> picture_steps_;  // JSON, of a model for pictures
  const char* picture_steps_file_ = picture_steps_name;  // that has them
  std::string tokenizer_class_;       // the class to use if the small files name none
  std::size_t model_max_length_ = 0;  // from the tokenizer; 0 if not set
  std::string source_language_ = no_language, target_language_ = no_language;
  std::unique_ptr<Tokenizer> tokenizer_, target_tokenizer_;
};

}  // namespace glassformer
