#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "families/hub_config.hpp"
#include "families/model_config.hpp"
#include "text/tokenizer_files.hpp"

namespace glassformer {

/// How a matrix lies in a family's files: a row for each output, or, transposed, for each input.
enum class TensorLayout { rows, transposed };

/// What a family calls a tensor, or several: "#" stands for the number of a layer, and both names
/// go on with ".weight" or ".bias", as ours does, or are whole. Where theirs has a "%", that is "W"
/// or "b" instead, and where it ends with "ln_", "scale" or "bias" follow. Several of ours with one
/// name of theirs lie in that tensor one after the other, along the outputs.
struct TensorName {
  std::string_view theirs, ours;
  TensorLayout layout = TensorLayout::rows;
};

class ModelFiles;

/// The names of a folder's files, where they are not those of the library transformers.
struct FolderFiles {
  std::string weights;
  std::string source, target;  ///< of the tokenizers; one alone: no target
  std::string shortlist;       ///< empty: there is none
  std::string source_language = "und", target_language = "und";  ///< BCP 47
};

/// What a family has whose weights are a TensorContainer: that says what the model is, too.
struct ContainerFormat {
  /// None where a folder's files are not such. Throws `unsupported` or `missing_file` where there
  /// are too few or too many, with the cure.
  std::optional<FolderFiles> (*find)(ModelFiles& files);
  /// What the container has for a configuration, as JSON. Throws `invalid_config`.
  std::string (*config)(std::string_view text);
  std::string_view config_name;  ///< in errors
};

/// A family of checkpoints, as the library that its makers use writes them: how their
/// configurations and their tensors' names become ours. Everything else about a family is said by
/// ModelConfig.
struct Family {
  /// A "model_type" of config.json, and the class that reads its texts where the folder names none.
  struct Type {
    std::string_view name, tokenizer_class;
  };
  std::span<const Type> model_types;
  std::string_view prefix;  ///< of the base model's tensors, in files that hold a head beside it
  std::span<const TensorName> tensors;  ///< of the base model: every model has them
  std::span<const TensorName> heads;    ///< of its tasks: a model reads those of its own
  ModelConfig (*read)(HubConfig& config);
  /// Of a family that writes: reads a model that is the encoder alone and gives vectors. Null if
  /// the family has none.
  ModelConfig (*read_encoder)(HubConfig& config) = nullptr;
  const ContainerFormat* container = nullptr;
  std::size_t first_layer = 0;  ///< the number of a stack's first
  bool two_tokenizers = false;  ///< what it writes may have another tokenizer than what it reads
  bool writes = false;          ///< its models write texts: generation_config.json says how
};

/// The family of a model_type. Throws `unsupported`, naming those that there are; `own_code`: the
/// checkpoint has Python code for an architecture of its own.
const Family& find_family(std::string_view model_type, bool own_code = false);

/// The class that reads a model's texts where its folder names none: by config.json's model_type.
/// Empty if that is none of ours.
std::string_view usual_tokenizer_class(std::string_view config_json);

/// The family whose container a folder has, and its files; or null.
const Family* find_container(ModelFiles& files, FolderFiles& found);

}  // namespace glassformer
