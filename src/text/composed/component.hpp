#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "text/composed/json_entries.hpp"

namespace glassformer {

/// The document to name in errors about a tokenizer's components.
inline constexpr JsonSource tokenizer_json{ErrorCode::invalid_tokenizer, "tokenizer.json"};

/// A component type and its required fields. They identify the type in old files, which do not
/// write it.
struct TypeFields {
  const char* type;
  std::array<const char*, 3> fields;  ///< null after the last one
};

/// A component of a tokenizer.json: an object with a "type". Fields are read as in any JsonObject;
/// finish() throws if there are fields that were not read.
class Component : public JsonObject {
 public:
  Component(const JsonValue& json, std::string_view path);
  /// Creates a component whose type is not written in the file.
  Component(const JsonValue& json, std::string_view path, std::string type);
  /// Creates a component whose type may be missing. In that case, it gets the first of `types`
  /// whose fields are all present.
  Component(const JsonValue& json, std::string_view path, std::span<const TypeFields> types);

  const std::string& type() const { return type_; }
  const std::string& path() const { return path_; }

  bool boolean_or(const char* key, bool fallback);
  /// Returns a field that may be absent, but not null.
  bool boolean_unless_absent(const char* key, bool fallback);
  std::string string_or(const char* key, std::string_view fallback);
  /// Reads a string of exactly one character.
  char32_t character(const char* key);

  /// Calls `read` for each element of an array of components, with the element and its path.
  template <typename Read>
  void each(const char* key, const Read& read) {
    const JsonValue& array = require(key);
    if (!array.is_array()) fail(key, "an array", array);
    std::size_t i = 0;
    for_each_element(array, [&](const JsonValue& element) {
      read(element, path_ + ": " + key + "[" + std::to_string(i++) + "]");
    });
  }

  /// Throws unsupported, because the type is not in the list `supported`.
  [[noreturn]] void refuse_type(std::string_view supported) const;
  /// Throws unsupported for a value that this library does not support.
  [[noreturn]] void refuse(std::string_view field, std::string_view got,
                           std::string_view supported) const;

 private:
  std::string path_, type_;
};

}  // namespace glassformer
