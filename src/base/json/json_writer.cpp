#include "base/json/json_writer.hpp"

#include <cmath>

#include "base/strings/decimal.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {

void JsonWriter::key(std::string_view key) {
  separate();
  start_line();
  append_quoted(key);
  text_ += layout_ == Layout::lines ? ": " : ":";
}

void JsonWriter::value(std::string_view string) {
  separate();
  append_quoted(string);
}

void JsonWriter::value(float number) {
  if (!std::isfinite(number)) return raw("null");
  raw(shortest_decimal(number));
}

void JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (bracket == '}' && text_.back() != '{') start_line();
  text_ += bracket;
}

// Appends a comma, unless this is the first entry or follows a key.
void JsonWriter::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':' && last != ' ') text_ += ',';
}

void JsonWriter::start_line() {
  if (layout_ == Layout::compact) return;
  text_ += '\n';
  text_.append(2 * depth_, ' ');
}

// Bytes that are not UTF-8 become U+FFFD.
void JsonWriter::append_quoted(std::string_view string) {
  constexpr std::string_view named = "\"\\\b\f\n\r\t";
  constexpr std::string_view names = "\"\\bfnrt";
  constexpr std::string_view hex_digits = "0123456789abcdef";
  text_ += '"';
  while (!string.empty()) {
    const std::size_t size = valid_character_size(string);
    const auto byte = static_cast<unsigned char>(string.front());
    const std::size_t name = named.find(string.front());
    if (size == 0) {
      text_ += replacement_character;
    } else if (name != named.npos) {
      text_ += '\\';
      text_ += names[name];
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += hex_digits[byte >> 4];
      text_ += hex_digits[byte & 15u];
    } else {
      text_ += string.substr(0, size);
    }
    string.remove_prefix(size == 0 ? 1 : size);
  }
  text_ += '"';
}

}  // namespace glassformer
