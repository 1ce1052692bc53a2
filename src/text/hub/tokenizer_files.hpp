#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "text/hub/tokenizer_config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// The texts that a tokenizer is for, if a translator has one tokenizer per language.
enum class TokenizerSide { source, target };

/// The names of all files that a tokenizer may be built from.
inline constexpr std::array tokenizer_files = {"tokenizer.json",
                                               "tokenizer_config.json",
                                               "special_tokens_map.json",
                                               "added_tokens.json",
                                               "tokenizer.model",
                                               "source.model",
                                               "target.model",
                                               "source.spm",
                                               "target.spm",
                                               "vocab.json",
                                               "target_vocab.json",
                                               "vocab.txt",
                                               "merges.txt",
                                               "spiece.model",
                                               "spm.model",
                                               "sentencepiece.bpe.model"};

/// The caller's information about a tokenizer.
struct TokenizerOptions {
  TokenizerSide side = TokenizerSide::source;
  std::string_view usual_class = {};  ///< if the folder names no class; empty if unknown
  bool lower_case = false;            ///< the text is converted to lower case first
};

/// Throws invalid_tokenizer for a folder without a tokenizer.
[[noreturn]] void refuse_missing_tokenizer();

/// Reads the tokenizer of a model folder. Uses the first of these that exists:
///
///   tokenizer.json        modified by tokenizer_config.json
///   tokenizer.model, or source.model and target.model   SentencePiece as it is
///   other files           read by the class that "tokenizer_class" names in tokenizer_config.json
///   or
///                         config.json; else by `usual_class`; else by the class that is known for
///                         the existing files
///
/// Throws invalid_tokenizer, or unsupported with the class's name and a suggestion.
std::unique_ptr<Tokenizer> read_tokenizer(const FolderFile& file,
                                          const TokenizerOptions& options = {});

/// Returns whether a folder may have two tokenizers, one for each side of a translator.
bool has_two_sides(const FolderFile& file, std::string_view usual_class);

/// Reads the tokenizer of a translator: SentencePiece pieces with a vocab.json, one for each side
/// (MarianTokenizer) or one for many languages (M2M100Tokenizer). `name`: the class, empty if
/// unknown. Returns null if this is another class, or the files of the first are missing.
std::unique_ptr<Tokenizer> read_renumbered(const FolderFile& file, TokenizerSide side,
                                           const TokenizerConfig& config, std::string_view name);

/// Points to read_renumbered, or is null if the program is linked without models that write
/// (src/linked).
extern std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile& file,
                                                                  TokenizerSide side,
                                                                  const TokenizerConfig& config,
                                                                  std::string_view name);

}  // namespace glassformer
