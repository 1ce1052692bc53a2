#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

// A small reader of JSON, which checks a text and then reads from it what is asked for, so that it
// needs little memory beside the text. A general library would be a tenth of the wasm binary; the
// tests compare this one to nlohmann::json.

namespace glassformer {

/// Says in errors which document is at fault ("config.json") and under which code. What a hostile
/// document makes long is cut.
struct JsonSource {
  ErrorCode code;
  std::string_view name;

  [[noreturn]] void fail(const Message& problem) const;
};

/// A value in a text that parse_json has checked: a window on that text, which must outlive it.
class JsonValue {
 public:
  enum class Type { null, boolean, number, string, array, object };

  /// `text` is one valid value without space around it.
  explicit JsonValue(std::string_view text) : text_(text) {}

  Type type() const;
  bool is_string() const { return type() == Type::string; }
  bool is_array() const { return type() == Type::array; }
  bool is_object() const { return type() == Type::object; }
  /// Whether it is a number without sign, fraction and exponent that fits into whole().
  bool is_whole() const;

  /// How it is written.
  std::string_view text() const { return text_; }
  std::uint64_t whole() const;
  /// With a float's precision at least, of a number.
  double number() const;
  /// The characters of a string.
  std::string string() const;

 private:
  std::string_view text_;
};

/// Goes through an array's elements, or an object's fields, in the order of the text:
///
///   for (JsonEntries entry(value); entry.next();) use(entry.key(), entry.value());
class JsonEntries {
 public:
  /// `value` is an array or an object; for others this throws `internal`, as who calls it has to
  /// refuse them by the name of their field.
  explicit JsonEntries(JsonValue value);

  /// Goes to the first entry, later to the next one; false behind the last.
  bool next();
  std::string key() const { return JsonValue(key_).string(); }  // of an object's field
  JsonValue value() const { return JsonValue(value_); }

 private:
  std::string_view text_, key_, value_;
  std::size_t at_ = 0;
  bool object_;
};

/// How many elements or fields there are; 0 for other values.
std::size_t count_entries(JsonValue value);

/// The value of a field that may be absent, unless it is null: what is not set is written so, too.
inline const JsonValue* present(const JsonValue* value) {
  return value && value->type() != JsonValue::Type::null ? value : nullptr;
}

/// Checks one JSON text (RFC 8259, UTF-8). Duplicate keys, nesting deeper than 32, numbers that are
/// too large for a double, a byte order mark and anything after the value are errors. Takes eight
/// bytes of memory for each key of the objects that are open at a time.
/// Throws Error(source.code) with the path of the field or the position of the syntax error.
JsonValue parse_json(std::string_view text, JsonSource source);

/// Reads the fields of one object, each at most once, and then refuses the ones nobody asked for.
/// Every failure is an Error(source.code) "SOURCE: FIELD: expected ..., got ...".
class JsonObject {
 public:
  /// Enough for every object of ours that is read by its fields.
  static constexpr std::size_t max_fields = 64;

  /// `path` names the object inside its document; empty for the document itself.
  /// Throws if `value` is not an object of at most `most` fields.
  JsonObject(JsonValue value, JsonSource source, std::string_view path = {},
             std::size_t most = max_fields);

  /// The field's value, or null if it is absent.
  const JsonValue* find(std::string_view key);
  /// The same, but absence is an error.
  const JsonValue& require(std::string_view key);

  bool boolean(std::string_view key) { return boolean(key, require(key)); }
  /// With a float's precision, which is what the models compute in.
  double number(std::string_view key) { return number(key, require(key)); }
  /// Fails for a number that is infinite as a float.
  float float_number(std::string_view key) { return float_number(key, require(key)); }
  /// Above 0, at most 1.
  float fraction(std::string_view key) { return fraction(key, require(key)); }
  std::string string(std::string_view key) { return string(key, require(key)); }
  /// A whole number written without fraction or exponent, min <= value <= max.
  std::uint64_t integer(std::string_view key, std::uint64_t min, std::uint64_t max) {
    return integer(key, require(key), min, max);
  }

  /// The same of values that were found; `key` is for errors.
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
    bool known = false;  // whether it was looked up
  };

  JsonSource source_;
  std::string path_;
  std::vector<Field> fields_;
};

/// A value as it appears in error messages: its JSON text, shortened.
std::string describe(JsonValue value);
std::string describe(std::string_view string);

/// The text, or its beginning and "..." if it has more than `most` bytes.
std::string shortened(std::string text, std::size_t most);

}  // namespace glassformer
