#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/tokenizer_config.hpp"
#include "text/hub/tokenizer_json.hpp"

namespace glassformer {

/// The default special tokens of a class. Empty if the class has no token with that role.
struct TokenizerRoles {
  std::string_view bos = {}, eos = {}, unk = {}, sep = {}, pad = {}, cls = {}, mask = {};
};

/// A tokenizer class of the library `transformers`, and how to build it from a folder's files.
struct TokenizerClass {
  /// For example "BertTokenizer".
  std::string_view name;
  /// Builds the tokenizer of a folder without tokenizer.json. Null if this class needs that file.
  ComposedTokenizer::Parts (*build)(const FolderFile& file, const TokenizerConfig& config);
  /// Returns the changes that tokenizer_config.json makes to a tokenizer.json. May be null.
  TokenizerJsonChanges (*changes)(const TokenizerConfig& config);
  const TokenizerRoles* roles;
  /// The reason why this class is not supported, with any files. Empty if it is supported.
  std::string_view refusal = {};
};

/// Returns null for an unknown class.
const TokenizerClass* find_tokenizer_class(std::string_view name);

/// Adds the special tokens of the class and of the folder's small files to the tokens of a
/// tokenizer.json. `known` may be null.
void add_tokens(ComposedTokenizer::Parts& parts, const TokenizerClass* known,
                const TokenizerConfig& config);

}  // namespace glassformer
