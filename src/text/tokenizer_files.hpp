#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/tokenizer.hpp"

namespace glassformer {

/// Gives a file of a model folder by its name, or nothing if it is not there. Its bytes stay until
/// the tokenizer is made.
using FolderFile = std::function<std::optional<std::string_view>(std::string_view name)>;

/// Which texts a tokenizer is for, where a translator's two languages have one each.
enum class TokenizerSide { source, target };

/// What a text of vocab.json and merges.txt stands between, which these files do not say.
enum class Surroundings {
  unknown,         ///< special tokens where the vocabulary has one for what is masked
  none,            ///< as models that only write have it
  special_tokens,  ///< as models that only read have it
};

/// The names of all files that a tokenizer may be made of.
inline constexpr std::array tokenizer_files = {"tokenizer.json",
                                               "tokenizer_config.json",
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

/// The tokenizer of a model folder, from the first of these that is there:
///
///   tokenizer.json                             a composed one
///   tokenizer.model; source.model and target.model   SentencePiece as it is
///   source.spm, target.spm and vocab.json      SentencePiece with the ids of vocab.json
///   vocab.txt                                  WordPiece
///   vocab.json and merges.txt                  byte-level BPE
///   spiece.model                               Unigram, with extra tokens at the end
///   sentencepiece.bpe.model                    Unigram, with special tokens at the start
///
/// tokenizer_config.json says more of the last five. Throws invalid_tokenizer, or unsupported.
std::unique_ptr<Tokenizer> read_tokenizer(const FolderFile& file,
                                          TokenizerSide side = TokenizerSide::source,
                                          Surroundings around = Surroundings::unknown);

}  // namespace glassformer
