#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The iostream operators would pull the stream library into the wasm binary.
#ifndef JSON_NO_IO
#define JSON_NO_IO 1
#endif
#include <nlohmann/json.hpp>

#include "error.hpp"

namespace glassformer {

/// Says in errors which document is at fault ("config.json") and under which code.
struct JsonSource {
  ErrorCode code;
  std::string_view name;

  [[noreturn]] void fail(const std::string& problem) const;
};

/// Parses one JSON text (RFC 8259, UTF-8), stricter than nlohmann::json::parse: duplicate keys,
/// nesting deeper than 32, a byte order mark and anything after the value are errors.
/// Throws Error(source.code) with the path of the field or the position of the syntax error.
nlohmann::json parse_json(std::string_view text, JsonSource source);

/// Reads the fields of one object, each at most once, and then refuses the ones nobody asked for.
/// Every failure is an Error(source.code) "SOURCE: FIELD: expected ..., got ...".
class JsonObject {
 public:
  /// `path` names the object inside its document; empty for the document itself.
  /// Throws if `value` is not an object. `value` must outlive this.
  JsonObject(const nlohmann::json& value, JsonSource source, std::string path = {});

  /// The field's value, or null if it is absent.
  const nlohmann::json* find(const char* key);
  /// The same, but absence is an error.
  const nlohmann::json& require(const char* key);

  bool boolean(const char* key);
  double number(const char* key);
  std::string string(const char* key);
  /// A whole number written without fraction or exponent, min <= value <= max.
  std::uint64_t integer(const char* key, std::uint64_t min, std::uint64_t max);

  /// Throws if the object has a field that was not looked up.
  void finish() const;

  [[noreturn]] void fail(std::string_view key, std::string_view expected,
                         const nlohmann::json& got) const;
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const;

 private:
  const nlohmann::json& value_;
  JsonSource source_;
  std::string path_;
  std::vector<std::string_view> known_;
};

/// A value as it appears in error messages: its JSON text, shortened.
std::string describe(const nlohmann::json& value);

}  // namespace glassformer
