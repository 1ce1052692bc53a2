#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "families/config/hub_config.hpp"
#include "families/config/model_config.hpp"
#include "text/hub/tokenizer_files.hpp"

namespace glassformer {

/// The layout of a matrix in a family's files: one row per output, or, if transposed, one per
/// input; `by_head`: rows, first those of all parts for the first head, then for the second;
/// `minus_one`: rows, and 1 is added to every number.
enum class TensorLayout { rows, transposed, by_head, minus_one };

/// Maps tensor names of a family (`theirs`) to ours. "#" is the number of a layer. Both names
/// either continue with ".weight" or ".bias", or are complete. In `theirs`, "%" is replaced by "W"
/// or "b", and a name that ends with "ln_" continues with "scale" or "bias". If several of our
/// tensors have the same name in `theirs`, that tensor holds them in the order of the table,
/// concatenated along the outputs.
struct TensorName {
  std::string_view theirs, ours;
  TensorLayout layout = TensorLayout::rows;
};

class ModelFiles;

/// The names of a folder's files, if they differ from those of the library transformers.
struct FolderFiles {
  std::string weights;
  std::string source, target;  ///< of the tokenizers; if there is only one, `target` is empty
  std::string shortlist;       ///< may be empty
  std::string source_language = no_language, target_language = no_language;
};

/// The file format of a family whose weights are in a TensorContainer, which also holds the
/// configuration.
struct ContainerFormat {
  /// Returns nothing if the folder does not have this format. Throws `unsupported` or
  /// `missing_file`, with a suggestion, if there are too many or too few files.
  std::optional<FolderFiles> (*find)(ModelFiles& files);
  /// Converts the container's configuration to JSON. Throws `invalid_config`.
  std::string (*config)(std::string_view text);
  std::string_view config_name;  ///< in errors
  std::int32_t end_id;           ///< of the token that ends a text, in both vocabularies
};

/// A family of published checkpoints in the format of the library that its authors use. Defines how
/// their configurations and tensor names are converted to ours. Everything else is in ModelConfig.
struct Family {
  /// A "model_type" of config.json, and the tokenizer class to use if the folder names none.
  struct Type {
    std::string_view name, tokenizer_class;
  };
  std::span<const Type> model_types;
  std::string_view prefix;  ///< of the base model's tensors, in files that also hold a head
  std::span<const TensorName> tensors;  ///< of the base model; required in every model
  std::span<const TensorName> heads;    ///< of the heads; a model reads those of its task
  ModelConfig (*read)(HubConfig& config);
  /// For families that write: reads a model that does not, whose class in the library has a name
  /// with the end `reader`. Null if the family has no such models.
  ModelConfig (*read_reader)(HubConfig& config) = nullptr;
  std::string_view reader = {};
  const ContainerFormat* container = nullptr;
  std::size_t first_layer = 0;  ///< the number of a stack's first layer
  bool two_tokenizers = false;  ///< input and output may have different tokenizers
  bool writes = false;  ///< its models write texts; settings come from generation_config.json
  /// For families that read pictures: the class that prepares them, unless the folder names
  /// another.
  std::optional<PictureProcessor> pictures = {};
  /// For families that read pictures, and texts, too: the end of the name of the class in the
  /// library that reads only pictures. Empty if all do.
  std::string_view only_pictures = {};
};

/// Returns the family of a model_type. Throws `unsupported` with a list of all families.
/// `own_code`: the checkpoint includes Python code for its own architecture.
const Family& find_family(std::string_view model_type, bool own_code = false);

/// Returns the default tokenizer class for the model_type of a config.json, or an empty string if
/// the model_type is unknown.
std::string_view usual_tokenizer_class(std::string_view config_json);

/// Returns the family whose container is in the folder and sets `found` to its files, or returns
/// null.
const Family* find_container(ModelFiles& files, FolderFiles& found);

}  // namespace glassformer
