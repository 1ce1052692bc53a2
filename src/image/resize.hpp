#pragma once

#include <cstddef>

#include "image/picture.hpp"

namespace glassformer {

/// How the pixels of a resized picture are computed.
enum class Resampling { nearest, lanczos, bilinear, bicubic };

/// Resizes a picture to the same bytes as Pillow, the library behind most training pipelines.
/// Except for `nearest`, this is a convolution along the rows and then along the columns, each
/// rounded to bytes. When a picture becomes smaller, the filter becomes wider by the same factor.
/// Pillow 13 begins with the columns if that saves work, which changes the rounding of some tall
/// pictures; the reference is the order of all versions before, with which models were trained.
/// Neither size may be 0.
Picture resize(const Picture& picture, std::size_t width, std::size_t height,
               Resampling resampling);

}  // namespace glassformer
