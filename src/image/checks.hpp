#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "image/picture.hpp"

namespace glassformer {

/// Throws `empty_input` for a picture without pixels, and `too_large` if it is over the limits.
inline void expect_picture_size(std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0) {
    throw_error(ErrorCode::empty_input,
                {"picture: expected at least one pixel, got {} x {}", {width, height}});
  }
  if (width <= max_picture_side && height <= max_picture_side &&
      width * height <= max_picture_pixels) {
    return;
  }
  throw_error(ErrorCode::too_large,
              {"picture: expected at most {} pixels, and {} on a side, got {} x {}",
               {max_picture_pixels, max_picture_side, width, height}});
}

/// Throws the same errors, and `invalid_option` if the number of channels or bytes is wrong.
inline void check_picture(const Picture& picture) {
  expect_picture_size(picture.width, picture.height);
  const std::size_t channels = picture.channels;
  if (channels != 1 && channels != 3 && channels != 4) {
    throw_error(ErrorCode::invalid_option,
                {"picture: expected 1, 3 or 4 channels, got {}", {channels}});
  }
  const std::size_t bytes = picture.width * picture.height * channels;
  if (picture.bytes.size() == bytes) return;
  throw_error(ErrorCode::invalid_option,
              {"picture: expected {} x {} x {} = {} bytes, got {}",
               {picture.width, picture.height, channels, bytes, picture.bytes.size()}});
}

}  // namespace glassformer
