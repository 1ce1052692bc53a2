#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "families/family.hpp"
#include "families/folder/model_folder.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// The tokenizers of a model folder.
struct FolderTokenizers {
  std::unique_ptr<Tokenizer> source;
  std::unique_ptr<Tokenizer> target;  ///< of the translations; null: the same as `source`
};

/// What a model's configuration says about the files of its tokenizers.
struct TokenizerFacts {
  bool sentencepiece = false;             ///< they are SentencePiece models, as in our own folders
  std::string_view usual_class = {};      ///< if no file names the class; empty if unknown
  std::string_view class_of_merges = {};  ///< the same if there is a merges.txt; empty: usual_class
  bool lower_case = false;                ///< texts are converted to lower case first
  /// Whether translations have a tokenizer of their own; unset: as the files say.
  std::optional<bool> two = {};
};

/// The class that reads merges.txt in our own folders if they name none: those that version 0.1
/// converted.
std::string_view merges_class(Task task);

/// Reads the tokenizers of a folder. Throws the errors of read_tokenizer, and `missing_file` for a
/// folder that should have SentencePiece models and has none.
FolderTokenizers read_tokenizers(ModelFiles& files, const TokenizerFacts& facts);

/// Reads the tokenizers of a folder with a container.
FolderTokenizers read_tokenizers(ModelFiles& files, const FolderFiles& found);

/// The tokenizers of a folder that is read for them alone, and the fields of a configuration that
/// tell what belongs around a text: `tokenizer_template`, `prefix_tokens` and `suffix_tokens`.
struct TokenizersAlone : FolderTokenizers {
  ModelConfig config;
};

/// Reads the tokenizers of a folder, ours or a published one, and no other file but config.json,
/// which may be absent. The model may be of any kind, even an unknown one. Throws NotLinked if the
/// tokenizer's class depends on a family that may not be linked.
TokenizersAlone read_tokenizers_alone(ModelFiles& files);

}  // namespace glassformer
