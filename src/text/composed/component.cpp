#include "text/composed/component.hpp"

#include <algorithm>
#include <utility>

#include "text/characters.hpp"

namespace glassformer {
namespace {

constexpr std::string_view component_cure =
    "; the tokenizer must be saved again without it, or the text prepared elsewhere";

}  // namespace

Component::Component(const JsonValue& json, std::string_view path)
    : JsonObject(json, tokenizer_json, path), path_(path), type_(string("type")) {}

Component::Component(const JsonValue& json, std::string_view path, std::string type)
    : JsonObject(json, tokenizer_json, path), path_(path), type_(std::move(type)) {}

Component::Component(const JsonValue& json, std::string_view path,
                     std::span<const TypeFields> types)
    : JsonObject(json, tokenizer_json, path), path_(path) {
  const JsonValue* named = find("type");
  if (!named || !named->is_string()) {
    for (const TypeFields& type : types) {
      const auto is_there = [&](const char* key) { return !key || find(key); };
      if (!std::ranges::all_of(type.fields, is_there)) continue;
      type_ = type.type;
      return;
    }
  }
  type_ = string("type");
}

bool Component::boolean_unless_absent(const char* key, bool fallback) {
  return find(key) ? boolean(key) : fallback;
}

bool Component::boolean_or(const char* key, bool fallback) {
  const JsonValue* value = find(key);
  return value && value->type() != JsonValue::Type::null ? boolean(key) : fallback;
}

std::string Component::string_or(const char* key, std::string_view fallback) {
  const JsonValue* value = find(key);
  return value && value->type() != JsonValue::Type::null ? string(key) : std::string(fallback);
}

char32_t Component::character(const char* key) {
  const Characters characters = read_characters(string(key));
  if (characters.size() != 1) fail(key, "one character", require(key));
  return characters[0].code;
}

void Component::refuse_type(std::string_view supported) const { refuse("type", type_, supported); }

void Component::refuse(std::string_view field, std::string_view got,
                       std::string_view supported) const {
  throw_error(ErrorCode::unsupported, {"tokenizer.json: {}: {}: expected {}, got {}{}",
                                       {path_, field, supported, describe(got), component_cure}});
}

}  // namespace glassformer
