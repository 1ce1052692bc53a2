#pragma once

#include <memory>
#include <string_view>

#include "text/hub/tokenizer_config.hpp"
#include "text/word_models/ranked_bpe.hpp"
#include "text/word_models/vocabulary.hpp"

namespace glassformer {

/// Each function throws invalid_tokenizer if the file is missing or malformed.

std::string_view required_file(const FolderFile& file, std::string_view name);
/// Reads vocab.txt: one token per line.
Vocabulary read_vocab_txt(const FolderFile& file);
/// Reads an object that maps tokens to ids.
Vocabulary read_vocab_json(const FolderFile& file, std::string_view name);

/// The columns of a line of merges.txt: two tokens, optionally followed by columns that are
/// ignored.
enum class Merges { two_columns, more_columns };
std::unique_ptr<RankedBpe> read_merges(const FolderFile& file, Vocabulary vocabulary,
                                       const RankedBpe::Options& options, Merges columns);

}  // namespace glassformer
