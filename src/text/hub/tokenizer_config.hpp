#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.hpp"
#include "text/composed/added_tokens.hpp"

namespace glassformer {

/// Returns a file of a model folder by name, or nothing if it does not exist. Its bytes must stay
/// valid until the tokenizer is built.
using FolderFile = std::function<std::optional<std::string_view>(std::string_view name)>;

/// The tokenizer settings from a folder's small files, merged as the library `transformers` does:
/// tokenizer_config.json; if that has no "added_tokens_decoder", also special_tokens_map.json,
/// which takes precedence, and added_tokens.json.
///
/// Every error is an `invalid_tokenizer` that names the file and the field.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const FolderFile& file);

  /// Returns the name of the Python tokenizer class, without "Fast" ("BertTokenizer"):
  /// "tokenizer_class" of tokenizer_config.json, else of config.json, else an empty string.
  const std::string& tokenizer_class() const { return class_; }

  /// Returns a boolean field, or nothing if it is absent or not a boolean.
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::size_t> integer(std::string_view key) const;
  std::string text(std::string_view key) const;  ///< empty if absent

  /// Returns the special token with a role ("cls_token"), or `fallback` if the files do not define
  /// it, or nothing if they define it as null. Its id is not set yet.
  std::optional<AddedToken> special(const std::string& role,
                                    std::optional<std::string_view> fallback) const;
  /// Returns the special tokens with a role, also a model's own role ("image_token"), that the
  /// files define, and their texts.
  std::vector<std::pair<std::string, std::string>> named_specials() const;
  /// Returns whether the files give the token's flags in addition to its text.
  bool has_flags(const std::string& role) const { return with_flags_.contains(role); }
  /// Returns the tokens of further roles and without a role. All are special.
  const std::vector<AddedToken>& more_specials() const { return more_; }
  /// Returns whether they replace the class's own tokens, which is so if the files have a list of
  /// such tokens.
  bool replaces_specials() const { return replaces_; }
  /// Returns the tokens that have ids in the files, sorted by id.
  const std::vector<AddedToken>& added() const { return added_; }

 private:
  void read_config(std::string_view text);
  void read_special_map(std::string_view text);
  void read_added(std::string_view text);
  void read_special(const std::string& role, JsonValue value, JsonSource source);
  void add_more(AddedToken token);

  std::map<std::string, JsonValue, std::less<>> fields_;  // of tokenizer_config.json
  std::string class_;
  bool replaces_ = false;
  bool has_decoder_ = false;  // "added_tokens_decoder"
  std::map<std::string, std::optional<AddedToken>>
      specials_;                                     // by role; nothing if the file has null
  std::set<std::string, std::less<>> with_flags_;    // roles
  std::map<std::string, std::string> own_specials_;  // the texts by a model's own roles
  std::vector<AddedToken> more_, added_, known_specials_;
};

/// Reads an entry of "added_tokens" or "added_tokens_decoder", or a special token that is an
/// object. Absent flags are false, except "normalized", which is true unless the token is special.
AddedToken read_added_token(JsonValue value, JsonSource source, std::string_view path,
                            bool special = false);

}  // namespace glassformer
