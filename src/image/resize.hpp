#pragma once

#include <cstddef>

#include "image/picture.hpp"

namespace glassformer {

/// How the pixels of a resized picture are computed.
enum class Resampling { nearest, lanczos, bilinear, bicubic };

/// Resizes a picture to the same bytes as Pillow, the library behind most training pipelines.
/// Except for `nearest`, this is a convolution along the rows and then along the columns, each
/// rounded to bytes. When a picture becomes smaller, the filter becomes wider by the same factor.
/// Neither size may be 0.
Picture resize(const Picture& picture, std::size_t width, std::size_t height,
               Resampling resampling);

}  // namespace glassformer
