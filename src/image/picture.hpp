#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace glassformer {

/// A picture: bytes [height, width, channels], row by row from the top. The channels are gray (1),
/// red, green and blue (3), or those and alpha (4), which is ignored.
struct Picture {
  std::size_t width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> bytes = {};

  bool operator==(const Picture&) const = default;
};

/// A part of a picture, in pixels. It may exceed the picture.
struct PictureRegion {
  float left = 0, top = 0, width = 0, height = 0;
};

/// The maximum number of pixels of a picture, and of its width and height. A larger picture is
/// refused before memory is allocated for it.
inline constexpr std::uint64_t max_picture_pixels = 1 << 26;
inline constexpr std::uint64_t max_picture_side = 1 << 16;

}  // namespace glassformer
