#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace glassformer {

/// Decodes base64 (RFC 4648, section 4). Returns nothing if `text` is not base64.
inline std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  unsigned value = 0;
  int bits = 0;
  for (const char digit : text) {
    const std::size_t found = digits.find(digit);
    if (found == digits.npos) return std::nullopt;
    value = (value << 6 | static_cast<unsigned>(found)) & 0xFFFF;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(value >> bits & 0xFF);
  }
  return bytes;
}

}  // namespace glassformer
