#pragma once

#include <span>

#include "image/picture.hpp"

// Picture files, for native programs. Browsers decode pictures themselves.

namespace glassformer {

/// The maximum size of a picture file.
inline constexpr std::uint64_t max_picture_bytes = 256 << 20;

/// Decodes a PNG, JPEG or WebP file to red, green and blue, as Pillow's convert("RGB") does: alpha
/// is dropped and not blended, and of 16 bits per channel the upper 8 are kept, except that gray
/// above 255 becomes white. Applies the rotation that the file's EXIF data names. Of an animation,
/// returns the first frame, as Pillow and browsers' createImageBitmap do.
///
/// Throws `empty_input` for no bytes, `unsupported` for another format, `invalid_picture` for a
/// broken or truncated file, and `too_large` for too many pixels, before allocating memory for
/// them.
Picture decode_picture(std::span<const std::uint8_t> file);

}  // namespace glassformer
