#pragma once

#include <memory>
#include <string_view>

#include "text/ranked_bpe.hpp"
#include "text/tokenizer_config.hpp"
#include "text/vocabulary.hpp"

namespace glassformer {

/// Each throws invalid_tokenizer if the file is not there or not as it should be.

std::string_view required_file(const FolderFile& file, std::string_view name);
/// vocab.txt: a token on each line.
Vocabulary read_vocab_txt(const FolderFile& file);
/// An object of tokens and their ids.
Vocabulary read_vocab_json(const FolderFile& file, std::string_view name);

/// What a line of merges.txt holds: two tokens, or also something behind them, which does not
/// count.
enum class Merges { two_columns, more_columns };
std::unique_ptr<RankedBpe> read_merges(const FolderFile& file, Vocabulary vocabulary,
                                       const RankedBpe::Options& options, Merges columns);

}  // namespace glassformer
