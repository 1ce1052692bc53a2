#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "image/picture.hpp"

namespace glassformer {

using FileBytes = std::span<const std::uint8_t>;

/// A decoded file. `exif` is its EXIF data, from the byte order mark on, and `xmp` its XMP data;
/// both may be empty.
struct DecodedFile {
  Picture picture;
  std::vector<std::uint8_t> exif = {}, xmp = {};
};

DecodedFile decode_png(FileBytes file);
DecodedFile decode_jpeg(FileBytes file);
DecodedFile decode_webp(FileBytes file);

inline std::string_view text_of(FileBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace glassformer
