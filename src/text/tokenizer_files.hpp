#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "text/tokenizer.hpp"
#include "text/tokenizer_config.hpp"

namespace glassformer {

/// Which texts a tokenizer is for, where a translator's two languages have one each.
enum class TokenizerSide { source, target };

/// The names of all files that a tokenizer may be made of.
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
                                               "sentencepiece.bpe.model"};

/// What the caller knows of a tokenizer.
struct TokenizerChoice {
  TokenizerSide side = TokenizerSide::source;
  std::string_view usual_class = {};  ///< where the folder names none; empty: nobody knows
  bool lower_case = false;            ///< the text is put into lower case first
};

/// The tokenizer of a model folder. In this order:
///
///   tokenizer.json        as it says, but for what tokenizer_config.json says otherwise
///   tokenizer.model, or source.model and target.model   SentencePiece as it is
///   other files           as the class makes a tokenizer of them that "tokenizer_class" names, in
///                         tokenizer_config.json or config.json; else `usual_class`; else the class
///                         that is known for the files that are there
///
/// Throws invalid_tokenizer, or unsupported, which names the class and says what to do.
std::unique_ptr<Tokenizer> read_tokenizer(const FolderFile& file,
                                          const TokenizerChoice& choice = {});

/// Reads the tokenizer of one side of a translator: SentencePiece pieces with a vocab.json.
std::unique_ptr<Tokenizer> read_two_vocabularies(const FolderFile& file, TokenizerSide side,
                                                 const TokenizerConfig& config,
                                                 std::string_view model);

/// That function, or null in a program that is linked without models that write (src/linked).
extern std::unique_ptr<Tokenizer> (*const read_two_sided)(const FolderFile& file,
                                                          TokenizerSide side,
                                                          const TokenizerConfig& config,
                                                          std::string_view model);

}  // namespace glassformer
