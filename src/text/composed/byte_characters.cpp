#include "text/composed/byte_characters.hpp"

#include <array>

#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr bool stays(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr std::array<char32_t, 256> characters = [] {
  std::array<char32_t, 256> result{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) result[byte] = stays(byte) ? byte : next++;
  return result;
}();

}  // namespace

char32_t character_of_byte(unsigned char byte) { return characters[byte]; }

std::optional<unsigned char> byte_of_character(char32_t code) {
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (characters[byte] == code) return static_cast<unsigned char>(byte);
  }
  return std::nullopt;
}

std::optional<std::string> bytes_of_characters(std::string_view utf8) {
  std::string bytes;
  for (const Character& character : read_characters(utf8)) {
    const auto byte = byte_of_character(character.code);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

Characters to_byte_characters(CharacterSpan text) {
  Characters result;
  result.reserve(text.size());
  std::string utf8;
  for (const Character& character : text) {
    utf8.clear();
    append_character(utf8, character.code);
    for (const char byte : utf8) {
      const char32_t code = characters[static_cast<unsigned char>(byte)];
      result.push_back({code, character.begin, character.end});
    }
  }
  return result;
}

}  // namespace glassformer
