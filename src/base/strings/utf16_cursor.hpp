#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/strings/utf8.hpp"

namespace glassformer {

/// Converts positions in UTF-16 units to bytes in a UTF-8 text. Positions must be ascending, so
/// that the text is read once. A byte that is not valid UTF-8 counts as one unit.
class Utf16Cursor {
 public:
  explicit constexpr Utf16Cursor(std::string_view utf8) : text_(utf8) {}

  constexpr std::string_view text() const { return text_; }

  /// Moves forward to the first character at or after a unit, or to the end; never moves back.
  /// Returns its position in bytes.
  constexpr std::size_t seek(std::uint32_t unit) {
    while (unit_ < unit && byte_ < text_.size()) {
      const std::size_t size = valid_character_size(text_.substr(byte_));
      unit_ += size == 4 ? 2 : 1;
      byte_ += size == 0 ? 1 : size;
    }
    return byte_;
  }

 private:
  std::string_view text_;
  std::size_t byte_ = 0;
  std::uint32_t unit_ = 0;
};

}  // namespace glassformer
