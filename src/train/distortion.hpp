#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/split_mix.hpp"

namespace glassformer {

/// A map of the plane x ↦ m x + t, around the middle of a picture. Lengths are in pixels.
struct Distortion {
  float m[2][2] = {{1, 0}, {0, 1}};
  float t[2] = {0, 0};

  /// Returns a distortion that turns by up to 15°, slants by up to 0.15, scales by up to 15 % and
  /// moves by up to a tenth of the picture's size, each times `strength`.
  static Distortion at_random(float strength, std::size_t height, std::size_t width,
                              SplitMix64& random);
};

/// to [height, width] = a picture whose point p has the brightness of `from` at distortion(p),
/// interpolated between the four nearest pixels. Outside of `from` is the nearest pixel.
void distort(std::span<const float> from, std::size_t height, std::size_t width,
             const Distortion& distortion, std::span<float> to);

}  // namespace glassformer
