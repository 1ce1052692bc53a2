#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/composed_tokenizer.hpp"
#include "text/tokenizer_config.hpp"
#include "text/tokenizer_json.hpp"

namespace glassformer {

/// What a class calls its special tokens where the files do not say. Empty: it has none of that
/// role.
struct TokenizerRoles {
  std::string_view bos = {}, eos = {}, unk = {}, sep = {}, pad = {}, cls = {}, mask = {};
};

/// How a class of the library transformers makes a tokenizer of a folder's files.
struct TokenizerClass {
  /// "BertTokenizer"
  std::string_view name;
  /// Makes one of the files that a folder without tokenizer.json has. Null: this class needs that
  /// file.
  ComposedTokenizer::Parts (*build)(const FolderFile& file, const TokenizerConfig& config);
  /// What tokenizer_config.json changes in a tokenizer.json. May be null.
  TokenizerJsonChanges (*changes)(const TokenizerConfig& config);
  const TokenizerRoles* roles;
  /// Why the class cannot be had, whatever files lie there; empty: it can.
  std::string_view refusal = {};
};

/// Null for a class that we do not know.
const TokenizerClass* find_tokenizer_class(std::string_view name);

/// Adds the tokens that the class and the folder's small files name to those of a tokenizer.json.
/// `known` may be null.
void add_tokens(ComposedTokenizer::Parts& parts, const TokenizerClass* known,
                const TokenizerConfig& config);

}  // namespace glassformer
