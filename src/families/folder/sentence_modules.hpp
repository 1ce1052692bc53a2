#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "families/config/model_config.hpp"

namespace glassformer {

class ModelFiles;

/// The file that lists the modules of a folder of sentence-transformers.
constexpr const char* modules_name = "modules.json";

/// The settings of the library sentence-transformers in a folder whose model outputs vectors:
/// modules.json and the files that it names, sentence_bert_config.json (or its equivalent for other
/// models), and config_sentence_transformers.json.
struct SentenceModules {
  VectorConfig vectors;
  std::vector<VectorModule> modules;  ///< applied to the pooled vector
  std::size_t max_seq_length = 0;     ///< of texts, including special tokens; 0 if not set
  bool lower_case = false;            ///< texts are converted to lower case first

  /// A module with weights: the file that holds them, and their names in it.
  struct Weights {
    std::string file;
    /// Pairs of our name and the name in the file: "modules.0.weight" -> "linear.weight".
    std::vector<std::pair<std::string, std::string>> names;
  };
  std::vector<Weights> weights;
};

/// Returns the subfolder with the Transformer itself, from modules.json: "0_Transformer", as the
/// library saved models before 2020. Returns an empty string if it is this folder. Throws
/// `invalid_config`.
std::string transformer_folder(ModelFiles& files);

/// Returns nothing for a folder without modules.json. `transformer`: the files of the Transformer.
/// Throws `invalid_config`, `missing_file`, or `unsupported` for an unsupported module.
std::optional<SentenceModules> read_sentence_modules(ModelFiles& files, ModelFiles& transformer);

}  // namespace glassformer
