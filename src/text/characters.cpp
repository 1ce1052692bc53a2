#include "text/characters.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{8} << 20;

}  // namespace

void expect_moderate(std::string_view utf8) {
  if (utf8.size() <= max_input_bytes) return;
  throw_error(ErrorCode::too_large,
              {"text: expected at most {} bytes, got {}; hand it over in parts",
               {max_input_bytes, utf8.size()}});
}

// Each character stores its position in the input.
std::size_t most_characters(CharacterSpan text) {
  constexpr std::size_t always = 1 << 16, each = 64, ever = 1 << 24;
  if (text.empty()) return always;
  const std::size_t input = std::size_t{text.back().end} - std::min(text[0].begin, text.back().end);
  return std::min(always + each * input, ever);
}

void expect_grown(std::size_t characters, std::size_t most) {
  if (characters <= most) return;
  throw_error(ErrorCode::too_large,
              {"text: expected at most {} characters after normalization, got more: the rules in "
               "tokenizer.json make it many times as long",
               {most}});
}

Characters read_characters(std::string_view text) {
  Characters characters;
  characters.reserve(text.size());
  std::uint32_t position = 0;
  while (!text.empty()) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t size = valid_character_size(text);
    char32_t code = 0xFFFD;
    if (size == 1) code = byte(0);
    if (size > 1) {
      code = byte(0) & (0x7Fu >> size);
      for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte(i) & 0x3Fu);
    }
    const std::uint32_t end = position + (size == 4 ? 2 : 1);
    characters.push_back({code, position, end});
    position = end;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return characters;
}

std::string to_utf8(CharacterSpan characters) {
  std::string text;
  for (const Character& character : characters) append_character(text, character.code);
  return text;
}

std::string with_named_bytes(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size = valid_character_size(bytes);
    if (size > 0) {
      text += bytes.substr(0, size);
    } else {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      text += {'<', '0', 'x', digits[byte >> 4], digits[byte & 15u], '>'};
    }
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

}  // namespace glassformer
