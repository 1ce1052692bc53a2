#include "base/strings/printable.hpp"

#include <cstddef>

#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

char32_t code_of(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7Fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

bool is_hidden(char32_t code) {
  return is_control(code) || code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string escape(char32_t code) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (code == 0) return "\\0";
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  const bool is_byte = code < 0x100;
  std::string text = is_byte ? "\\x" : "\\u";
  for (int shift = is_byte ? 4 : 12; shift >= 0; shift -= 4) text += digits[code >> shift & 15u];
  return text;
}

template <typename IsEscaped>
std::string escaped(std::string_view text, const IsEscaped& is_escaped) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = valid_character_size(text);
    const std::string_view character = text.substr(0, size);
    if (size == 0) {
      result += replacement_character;
    } else if (const char32_t code = code_of(character); is_escaped(code)) {
      result += escape(code);
    } else {
      result += character;
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, is_hidden); }

std::string on_one_line(std::string_view text) {
  return escaped(text, [](char32_t code) { return code != '\t' && is_control(code); });
}

}  // namespace glassformer
