#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "text/added_tokens.hpp"

namespace glassformer {

/// Gives a file of a model folder by its name, or nothing if it is not there. Its bytes stay until
/// the tokenizer is made.
using FolderFile = std::function<std::optional<std::string_view>(std::string_view name)>;

/// What a folder's small files say about its tokenizer, merged as the library transformers merges
/// them: tokenizer_config.json; if that has no "added_tokens_decoder", also
/// special_tokens_map.json, which wins, and added_tokens.json.
///
/// Every failure is an `invalid_tokenizer` that names file and field.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const FolderFile& file);

  /// The class that reads texts in Python, without "Fast" ("BertTokenizer"): "tokenizer_class" of
  /// tokenizer_config.json, else of config.json; empty if neither has one.
  const std::string& tokenizer_class() const { return class_; }

  /// A field that is true or false; nothing if it is absent or something else.
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::size_t> integer(std::string_view key) const;
  std::string text(std::string_view key) const;  ///< empty if it is absent

  /// The special token of a role ("cls_token"): what the files say; `fallback` if they say nothing;
  /// nothing if they say null. Its id is not known yet.
  std::optional<AddedToken> special(const std::string& role,
                                    std::optional<std::string_view> fallback) const;
  /// Whether the files give that token's flags, too, or only its text.
  bool has_flags(const std::string& role) const { return with_flags_.contains(role); }
  /// Tokens of further roles and without a role, all special.
  const std::vector<AddedToken>& more_specials() const { return more_; }
  /// Whether they stand instead of those that the class has: the files have a list of such tokens.
  bool replaces_specials() const { return replaces_; }
  /// Tokens with ids in the files, in the order of these ids.
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
  bool has_decoder_ = false;                                   // "added_tokens_decoder"
  std::map<std::string, std::optional<AddedToken>> specials_;  // by role; none: null
  std::set<std::string, std::less<>> with_flags_;              // roles
  std::vector<AddedToken> more_, added_, known_specials_;
};

/// An entry of "added_tokens" or "added_tokens_decoder", or a special token that is an object.
/// Flags that are absent are false, but for "normalized": true unless the token is special.
AddedToken read_added_token(JsonValue value, JsonSource source, std::string_view path,
                            bool special = false);

}  // namespace glassformer
