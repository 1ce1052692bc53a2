#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"

// A small reader of JSON. A general library would be a tenth of the wasm binary; the tests compare
// this one to nlohmann::json.

namespace glassformer {

/// Says in errors which document is at fault ("config.json") and under which code.
struct JsonSource {
  ErrorCode code;
  std::string_view name;

  [[noreturn]] void fail(const std::string& problem) const;
};

struct JsonValue {
  enum class Type { null, boolean, number, string, array, object };

  Type type = Type::null;
  std::string text;  // a string's characters; of a number, boolean or null, how it is written
  std::vector<JsonValue> elements;                        // of an array
  std::map<std::string, JsonValue, std::less<>> members;  // of an object

  bool is_string() const { return type == Type::string; }
  bool is_array() const { return type == Type::array; }
  bool is_object() const { return type == Type::object; }
  /// Whether it is a number without sign, fraction and exponent that fits into whole().
  bool is_whole() const;
  std::uint64_t whole() const;
};

/// Parses one JSON text (RFC 8259, UTF-8). Duplicate keys, nesting deeper than 32, numbers that are
/// too large for a double, a byte order mark and anything after the value are errors.
/// Throws Error(source.code) with the path of the field or the position of the syntax error.
JsonValue parse_json(std::string_view text, JsonSource source);

/// Reads the fields of one object, each at most once, and then refuses the ones nobody asked for.
/// Every failure is an Error(source.code) "SOURCE: FIELD: expected ..., got ...".
class JsonObject {
 public:
  /// `path` names the object inside its document; empty for the document itself.
  /// Throws if `value` is not an object. `value` must outlive this.
  JsonObject(const JsonValue& value, JsonSource source, std::string path = {});

  /// The field's value, or null if it is absent.
  const JsonValue* find(const char* key);
  /// The same, but absence is an error.
  const JsonValue& require(const char* key);

  bool boolean(const char* key);
  /// With a float's precision, which is what the models compute in.
  double number(const char* key);
  std::string string(const char* key);
  /// A whole number written without fraction or exponent, min <= value <= max.
  std::uint64_t integer(const char* key, std::uint64_t min, std::uint64_t max);

  /// Throws if the object has a field that was not looked up.
  void finish() const;

  [[noreturn]] void fail(std::string_view key, std::string_view expected,
                         const JsonValue& got) const;
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const;

 private:
  const JsonValue& value_;
  JsonSource source_;
  std::string path_;
  std::vector<std::string_view> known_;
};

/// A value as it appears in error messages: its JSON text, shortened.
std::string describe(const JsonValue& value);
std::string describe(std::string_view string);

}  // namespace glassformer
