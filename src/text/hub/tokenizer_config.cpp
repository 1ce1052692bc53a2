#include "text/hub/tokenizer_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "base/heap_sort.hpp"
#include "text/composed/json_entries.hpp"

namespace glassformer {
namespace {

constexpr JsonSource config_source{ErrorCode::invalid_tokenizer, "tokenizer_config.json"};
constexpr JsonSource map_source{ErrorCode::invalid_tokenizer, "special_tokens_map.json"};
constexpr JsonSource added_source{ErrorCode::invalid_tokenizer, "added_tokens.json"};
constexpr std::size_t most_fields = 1000;

constexpr std::array<std::string_view, 7> roles = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

bool is_null(JsonValue value) { return value.type() == JsonValue::Type::null; }

bool is_role(std::string_view key) { return std::ranges::find(roles, key) != roles.end(); }

// Returns a special token without flags, from its text.
AddedToken special_of(std::string content) {
  AddedToken token{.id = AddedToken::unknown_id, .content = std::move(content)};
  token.special = true;
  return token;
}

// Tokens with the same id keep their order.
void sort_by_id(std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> sorted;
  for (const std::size_t i : sorted_order(tokens.size(), [&](std::size_t a, std::size_t b) {
         return tokens[a].id < tokens[b].id;
       })) {
    sorted.push_back(std::move(tokens[i]));
  }
  tokens = std::move(sorted);
}

// Returns "tokenizer_class" of a JSON object, if it has one.
std::string class_in(std::string_view text, JsonSource source) {
  const JsonValue json = parse_json(text, source);
  if (!json.is_object()) source.fail({"expected an object, got {}", {describe(json)}});
  std::string found;
  for_each_field(json, [&](const std::string& key, JsonValue value) {
    if (key == "tokenizer_class" && value.is_string()) found = value.string();
  });
  return found;
}

}  // namespace

AddedToken read_added_token(JsonValue value, JsonSource source, std::string_view path,
                            bool special) {
  JsonObject object(value, source, path);
  const auto flag = [&](const char* key, bool fallback) {
    return present(object.find(key)) ? object.boolean(key) : fallback;
  };
  AddedToken token{.id = AddedToken::unknown_id, .content = object.string("content")};
  token.single_word = flag("single_word", false);
  token.strip_left = flag("lstrip", false);
  token.strip_right = flag("rstrip", false);
  token.special = flag("special", false) || special;
  token.normalized = flag("normalized", !token.special);
  object.find("id");
  object.find("__type");
  object.finish();
  return token;
}

TokenizerConfig::TokenizerConfig(const FolderFile& file) {
  if (const auto text = file(config_source.name)) read_config(*text);
  if (class_.empty()) {
    if (const auto text = file("config.json")) {
      class_ = class_in(*text, {ErrorCode::invalid_config, "config.json"});
    }
  }
  if (class_.ends_with("Fast")) class_.resize(class_.size() - 4);
  if (has_decoder_) return;
  known_specials_ = more_;
  if (const auto text = file(map_source.name)) read_special_map(*text);
  if (const auto text = file(added_source.name)) read_added(*text);
}

void TokenizerConfig::read_config(std::string_view text) {
  const JsonValue json = parse_json(text, config_source);
  if (!json.is_object() || count_entries(json) > most_fields) {
    config_source.fail(
        {"expected an object of at most {} fields, got {}", {most_fields, describe(json)}});
  }
  for_each_field(json, [&](const std::string& key, JsonValue value) {
    fields_.emplace(key, value);
    if (key == "tokenizer_class" && value.is_string()) class_ = value.string();
    if (key.ends_with("_token")) read_special(key, value, config_source);
  });
  for (const char* key : {"extra_special_tokens", "additional_special_tokens"}) {
    const auto found = fields_.find(key);
    if (found == fields_.end() || is_null(found->second)) continue;
    read_special(key, found->second, config_source);
    replaces_ = found->second.is_array();
    break;  // only the first one is used
  }
  const auto decoder = fields_.find("added_tokens_decoder");
  if (decoder == fields_.end() || is_null(decoder->second)) return;
  constexpr std::string_view path = "added_tokens_decoder";
  if (!decoder->second.is_object()) {
    config_source.fail({"{}: expected an object, got {}", {path, describe(decoder->second)}});
  }
  has_decoder_ = true;
  for_each_field(decoder->second, [&](const std::string& key, JsonValue value) {
    AddedToken token = read_added_token(value, config_source, path);
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size()) {
      config_source.fail({"{}: expected token ids as keys, got {}", {path, describe(key)}});
    }
    added_.push_back(std::move(token));
  });
  sort_by_id(added_);
}

void TokenizerConfig::read_special_map(std::string_view text) {
  const JsonValue json = parse_json(text, map_source);
  if (!json.is_object()) map_source.fail({"expected an object, got {}", {describe(json)}});
  // In the original library, a token of added_tokens.json is special if it is listed under this
  // key, but not if it is only under the key's older name, "additional_special_tokens".
  for_each_field(json, [&](const std::string& key, JsonValue value) {
    read_special(key, value, map_source);
    if (key != "extra_special_tokens") return;
    known_specials_ = more_;
    replaces_ |= value.is_array();
  });
}

// Reads a map from tokens to ids. Tokens that are not special elsewhere are ordinary text to the
// model.
void TokenizerConfig::read_added(std::string_view text) {
  const JsonValue json = parse_json(text, added_source);
  if (!json.is_object()) added_source.fail({"expected an object, got {}", {describe(json)}});
  for_each_field(json, [&](const std::string& content, JsonValue id) {
    if (!id.is_whole() || id.whole() > INT32_MAX) {
      added_source.fail({"{}: expected a token id, got {}", {describe(content), describe(id)}});
    }
    AddedToken token{.id = static_cast<std::int32_t>(id.whole()), .content = content};
    const auto same = [&](const AddedToken& other) { return other.content == content; };
    token.special = std::ranges::any_of(known_specials_, same) ||
                    std::ranges::any_of(specials_, [&](const auto& special) {
                      return special.second && same(*special.second);
                    });
    token.normalized = !token.special;
    added_.push_back(std::move(token));
  });
  sort_by_id(added_);
}

// Reads a role's token, or a list of tokens without roles. Each is a text or an object with flags.
void TokenizerConfig::read_special(const std::string& role, JsonValue value, JsonSource source) {
  const auto read = [&](JsonValue token) {
    if (token.is_string()) return special_of(token.string());
    return read_added_token(token, source, role, true);
  };
  if (value.is_array()) {
    for_each_element(value, [&](JsonValue token) { add_more(read(token)); });
  } else if (role == "extra_special_tokens" || role == "additional_special_tokens") {
    if (!value.is_object()) return;
    for_each_field(value, [&](const std::string& own, JsonValue token) {
      AddedToken found = read(token);
      own_specials_[own] = found.content;
      add_more(std::move(found));
    });
  } else if (is_null(value)) {
    specials_[role] = std::nullopt;
  } else if (value.is_string() || value.is_object()) {
    if (is_role(role)) {
      specials_[role] = read(value);
      if (value.is_object()) with_flags_.insert(role);
    } else {
      AddedToken found = read(value);
      if (role.ends_with("_token")) own_specials_[role] = found.content;
      add_more(std::move(found));
    }
  }
}

void TokenizerConfig::add_more(AddedToken token) {
  const auto same = [&](const AddedToken& other) { return other.content == token.content; };
  if (std::ranges::none_of(more_, same)) more_.push_back(std::move(token));
}

std::optional<bool> TokenizerConfig::boolean(std::string_view key) const {
  const auto field = fields_.find(key);
  if (field == fields_.end() || field->second.type() != JsonValue::Type::boolean) return {};
  return field->second.text() == "true";
}

std::optional<std::size_t> TokenizerConfig::integer(std::string_view key) const {
  const auto field = fields_.find(key);
  if (field == fields_.end() || !field->second.is_whole()) return {};
  return static_cast<std::size_t>(field->second.whole());
}

std::string TokenizerConfig::text(std::string_view key) const {
  const auto field = fields_.find(key);
  return field != fields_.end() && field->second.is_string() ? field->second.string() : "";
}

std::optional<AddedToken> TokenizerConfig::special(const std::string& role,
                                                   std::optional<std::string_view> fallback) const {
  const auto found = specials_.find(role);
  if (found != specials_.end()) return found->second;
  if (!fallback) return std::nullopt;
  return special_of(std::string(*fallback));
}

std::vector<std::pair<std::string, std::string>> TokenizerConfig::named_specials() const {
  std::vector<std::pair<std::string, std::string>> named(own_specials_.begin(),
                                                         own_specials_.end());
  for (const auto& [role, token] : specials_) {
    if (token) named.emplace_back(role, token->content);
  }
  return named;
}

}  // namespace glassformer
