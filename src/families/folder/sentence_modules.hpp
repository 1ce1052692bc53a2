#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "families/model_config.hpp"

namespace glassformer {

class ModelFiles;

/// What the library sentence-transformers says of a folder whose model makes vectors: modules.json
/// and the files that it names, sentence_bert_config.json (or its like for other models), and
/// config_sentence_transformers.json.
struct SentenceModules {
  VectorConfig vectors;
  std::vector<VectorModule> modules;  ///< what the pooled vector goes through
  std::size_t max_seq_length = 0;     ///< of texts, special tokens counted; 0: it does not say
  bool lower_case = false;            ///< texts are put into lower case first

  /// A module with weights: the file that holds them, and what it calls each of them.
  struct Weights {
    std::string file;
    /// By the names of ours: "modules.0.weight" -> "linear.weight".
    std::vector<std::pair<std::string, std::string>> names;
  };
  std::vector<Weights> weights;
};

/// The folder in this one that holds the Transformer itself, as modules.json says: "0_Transformer",
/// as the library saved models before 2020. Empty if it is this folder. Throws `invalid_config`.
std::string transformer_folder(ModelFiles& files);

/// None for a folder without modules.json. `transformer`: the files of the Transformer. Throws
/// `invalid_config`, `missing_file`, or `unsupported` for a module that we do not have.
std::optional<SentenceModules> read_sentence_modules(ModelFiles& files, ModelFiles& transformer);

}  // namespace glassformer
