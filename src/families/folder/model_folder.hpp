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

/// What the shortlist of our own folders is called.
inline constexpr const char* default_shortlist = "shortlist.bin";

/// The files of a folder, wherever they are.
class ModelFiles {
 public:
  virtual ~ModelFiles() = default;
  /// A file's bytes, or nothing if it is not there. They stay as long as this does.
  virtual std::optional<std::string_view> read(std::string_view name) = 0;
  virtual bool has(std::string_view name) = 0;
  /// The names of all files, where one can know; of a server's one cannot.
  virtual std::vector<std::string> names() { return {}; }
  /// Says which files will be read, as far as one can tell, and of which others somebody will ask
  /// whether they are there: who fetches files fetches these together.
  virtual void prepare(std::span<const char* const> /*read*/,
                       std::span<const char* const> /*found*/ = {}) {}
};

/// A model folder, ours or a published checkpoint: which model it holds, and how its files become
/// one. In this order:
///
///     ModelFolder folder(files);
///     headers = the headers of folder.weight_files(); if they are a TensorContainer,
///               folder.take_config(the bytes of its config)
///     config = folder.config(headers)
///     parameters = those of the model that `config` describes
///     loader = folder.loader(headers, parameters)
class ModelFolder {
 public:
  /// Reads all but the weights. Throws `missing_file` for a folder without configuration or
  /// weights, `unsupported` for weights in another format, with the cure, and for a model that is
  /// none of ours; what its tokenizer throws.
  explicit ModelFolder(ModelFiles& files);

  /// The safetensors files, in order; or the one TensorContainer.
  const std::vector<std::string>& weight_files() const { return weight_files_; }
  bool has_container() const { return family_ && family_->container; }
  void take_config(std::string_view text);
  /// The file with the shortlist, if there is one.
  const std::string& shortlist() const { return shortlist_; }
  /// Of a folder with a container: what lies beside it, by the names of our own folders.
  struct Renamed {
    std::string ours, theirs;
  };
  const std::vector<Renamed>& renamed() const { return renamed_; }

  /// What the folder says of its model. Throws what parse_config and HubConfig throw.
  ModelConfig config(std::span<const SafetensorsHeader> headers) const;

  /// What takes the weights. Throws what WeightsLoader throws.
  WeightsLoader loader(std::span<const SafetensorsHeader> headers,
                       std::vector<NamedParameter> parameters) const;

  /// The folder in this one that holds the model, with a slash at its end; empty: this one.
  const std::string& folder() const { return folder_; }

  /// Once: that of the texts, and that of their translations if it is another one, or null.
  std::unique_ptr<Tokenizer> take_tokenizer() { return std::move(tokenizer_); }
  std::unique_ptr<Tokenizer> take_target_tokenizer() { return std::move(target_tokenizer_); }
  /// Both until they are taken.
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const Tokenizer* target_tokenizer() const { return target_tokenizer_.get(); }

 private:
  void read_container(ModelFiles& files, const FolderFiles& found);
  // `all`: of the folder that holds `files`, which may be the same one. False: config.json is
  // absent or does not say what the model is.
  bool read_config(ModelFiles& files, ModelFiles& all);
  void read_model(ModelFiles& files, ModelFiles& all);
  void find_weights(ModelFiles& files);
  void read_tokenizers(ModelFiles& files);
  void read_tokenizer_config(ModelFiles& files);

  std::string config_;              // config.json, or what a container has instead
  const Family* family_ = nullptr;  // null: our own format
  bool encodes_ = false;            // the family's model is an encoder
  std::string folder_;              // of the Transformer: "0_Transformer/"; empty: this one
  std::vector<std::string> weight_files_;
  std::string shortlist_ = default_shortlist;
  std::vector<Renamed> renamed_;
  std::optional<std::string> generation_;  // generation_config.json
  std::optional<SentenceModules> modules_;
  std::string tokenizer_class_;       // that reads texts where the small files name none
  std::size_t model_max_length_ = 0;  // as the tokenizer has it; 0: it has none
  std::string source_language_ = "und", target_language_ = "und";  // BCP 47's "undetermined"
  std::unique_ptr<Tokenizer> tokenizer_, target_tokenizer_;
};

}  // namespace glassformer
