#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "text/json_entries.hpp"

namespace glassformer {

/// The document that errors in a tokenizer's components name.
inline constexpr JsonSource tokenizer_json{ErrorCode::invalid_tokenizer, "tokenizer.json"};

/// A type of component, and fields that it must have: components of old files do not name theirs.
struct TypeFields {
  const char* type;
  std::array<const char*, 3> fields;  ///< null after the last
};

/// One component of a tokenizer.json: an object with a "type". Its fields are read as those of any
/// JsonObject; finish() refuses the ones that nobody asked for.
class Component : public JsonObject {
 public:
  Component(const JsonValue& json, std::string_view path);
  /// One whose type is not written in it.
  Component(const JsonValue& json, std::string_view path, std::string type);
  /// One whose type may be missing: then it is the first of `types` whose fields are all there.
  Component(const JsonValue& json, std::string_view path, std::span<const TypeFields> types);

  const std::string& type() const { return type_; }
  const std::string& path() const { return path_; }

  bool boolean_or(const char* key, bool fallback);
  /// A field that may be absent, but not null.
  bool boolean_unless_absent(const char* key, bool fallback);
  std::string string_or(const char* key, std::string_view fallback);
  /// One character of a string.
  char32_t character(const char* key);

  /// Reads the elements of an array of components: `read` gets each with its path.
  template <typename Read>
  void each(const char* key, const Read& read) {
    const JsonValue& array = require(key);
    if (!array.is_array()) fail(key, "an array", array);
    std::size_t i = 0;
    for_each_element(array, [&](const JsonValue& element) {
      read(element, path_ + ": " + key + "[" + std::to_string(i++) + "]");
    });
  }

  /// Throws unsupported: the type is none of `supported`.
  [[noreturn]] void refuse_type(std::string_view supported) const;
  /// Throws unsupported for a value that we do not support.
  [[noreturn]] void refuse(std::string_view field, std::string_view got,
                           std::string_view supported) const;

 private:
  std::string path_, type_;
};

}  // namespace glassformer
