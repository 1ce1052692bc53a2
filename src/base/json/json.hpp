#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

// A small JSON reader. It checks a text and then reads only the requested values, so it needs
// little memory in addition to the text. A general library would be a tenth of the wasm binary. The
// tests compare this reader with nlohmann::json.

namespace glassformer {

/// The document's name ("config.json"; empty for options) and error code, for errors. Long parts of
/// a hostile document are shortened in messages.
struct JsonSource {
  ErrorCode code;
  std::string_view name;

  [[noreturn]] void fail(const Message& problem, const std::string& field = {}) const;
};

/// A value in a text that parse_json has checked: a window on that text, which must outlive it.
class JsonValue {
 public:
  enum class Type { null, boolean, number, string, array, object };

  /// `text` is one valid value without surrounding whitespace.
  explicit JsonValue(std::string_view text) : text_(text) {}

  Type type() const;
  bool is_string() const { return type() == Type::string; }
  bool is_array() const { return type() == Type::array; }
  bool is_object() const { return type() == Type::object; }
  /// Returns whether this is a number without sign, fraction or exponent that fits into whole().
  bool is_whole() const;

  /// Returns the JSON text.
  std::string_view text() const { return text_; }
  std::uint64_t whole() const;
  /// Returns the value of a number, at least as precise as a float.
  double number() const;
  /// Returns the characters of a string.
  std::string string() const;

 private:
  std::string_view text_;
};

/// Iterates over an array's elements, or an object's fields, in the order of the text:
///
///   for (JsonEntries entry(value); entry.next();) use(entry.key(), entry.value());
class JsonEntries {
 public:
  /// `value` must be an array or an object. Otherwise throws `internal`, because the caller has to
  /// reject other values by the name of their field.
  explicit JsonEntries(JsonValue value);

  /// Moves to the first entry, later to the next one. Returns false after the last.
  bool next();
  std::string key() const { return JsonValue(key_).string(); }  // objects only
  JsonValue value() const { return JsonValue(value_); }

 private:
  std::string_view text_, key_, value_;
  std::size_t at_ = 0;
  bool object_;
};

/// Returns the number of elements or fields; 0 for other values.
std::size_t count_entries(JsonValue value);

/// Returns the value of an optional field, or null if it is absent or JSON null: both mean "not
/// set".
inline const JsonValue* present(const JsonValue* value) {
  return value && value->type() != JsonValue::Type::null ? value : nullptr;
}

/// Checks one JSON text (RFC 8259, UTF-8). Duplicate keys, nesting deeper than 32, numbers too
/// large for a double, a byte order mark and anything after the value are errors. Uses eight bytes
/// of memory per key of the objects that are open at the same time. Throws Error(source.code) with
/// the path of the field or the position of the syntax error.
JsonValue parse_json(std::string_view text, JsonSource source);

/// Reads the fields of one object, then rejects the fields that were never read.
/// Every failure is an Error(source.code) "SOURCE: FIELD: expected ..., got ...", with this field.
class JsonObject {
 public:
  /// Enough for every object whose fields this project reads.
  static constexpr std::size_t max_fields = 64;

  /// `path` names the object inside its document; empty for the document itself.
  /// Throws if `value` is not an object of at most `most` fields.
  JsonObject(JsonValue value, JsonSource source, std::string_view path = {},
             std::size_t most = max_fields);

  /// Returns the field's value, or null if it is absent.
  const JsonValue* find(std::string_view key);
  /// Returns the field's value. Absence is an error.
  const JsonValue& require(std::string_view key);

  bool boolean(std::string_view key) { return boolean(key, require(key)); }
  /// Returns a number, at least as precise as a float, in which the models compute.
  double number(std::string_view key) { return number(key, require(key)); }
  /// Returns a number. Fails if it is infinite as a float.
  float float_number(std::string_view key) { return float_number(key, require(key)); }
  /// Returns a number above 0, at most 1.
  float fraction(std::string_view key) { return fraction(key, require(key)); }
  std::string string(std::string_view key) { return string(key, require(key)); }
  /// Returns a whole number, written without fraction or exponent, min <= value <= max.
  std::uint64_t integer(std::string_view key, std::uint64_t min, std::uint64_t max) {
    return integer(key, require(key), min, max);
  }

  /// Convert a value that was found; errors name `key`.
  bool boolean(std::string_view key, JsonValue value) const;
  double number(std::string_view key, JsonValue value) const;
  float float_number(std::string_view key, JsonValue value) const;
  float fraction(std::string_view key, JsonValue value) const;
  std::string string(std::string_view key, JsonValue value) const;
  std::uint64_t integer(std::string_view key, JsonValue value, std::uint64_t min,
                        std::uint64_t max) const;

  /// Throws if the object has a field that was not looked up.
  void finish() const;

  const JsonSource& json_source() const { return source_; }
  /// The name of the document.
  std::string_view document() const { return source_.name; }
  [[noreturn]] void fail(std::string_view key, const Message& expected, JsonValue got) const;
  [[noreturn]] void fail(std::string_view key, const Message& problem) const;

 private:
  struct Field {
    std::string key;
    JsonValue value;
    bool known = false;  // whether it was read
  };

  JsonSource source_;
  std::string path_;
  std::vector<Field> fields_;
};

/// Returns a value as it appears in error messages: its JSON text, shortened.
std::string describe(JsonValue value);
std::string describe(std::string_view string);

/// Returns the text, or its beginning and "..." if it has more than `most` bytes.
std::string shortened(std::string text, std::size_t most);

}  // namespace glassformer
