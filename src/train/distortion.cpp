#include "train/distortion.hpp"

#include <algorithm>
#include <cmath>

namespace glassformer {
namespace {

constexpr float most_turned = 15 * 0.017453293f, most_slanted = 0.15f;  // radians; sideways per up
constexpr float most_scaled = 0.15f, most_moved = 0.1f;                 // of the size

}  // namespace

Distortion Distortion::at_random(float strength, std::size_t height, std::size_t width,
                                 SplitMix64& random) {
  const auto up_to = [&](float most) { return most * strength * (2 * random.uniform() - 1); };
  const float angle = up_to(most_turned), slant = up_to(most_slanted);
  const float down = 1 + up_to(most_scaled), across = 1 + up_to(most_scaled);
  const float sine = std::sin(angle), cosine = std::cos(angle);
  return {.m = {{cosine * down, -sine * across},
                {(sine + slant * cosine) * down, (cosine - slant * sine) * across}},
          .t = {up_to(most_moved) * static_cast<float>(height),
                up_to(most_moved) * static_cast<float>(width)}};
}

void distort(std::span<const float> from, std::size_t height, std::size_t width,
             const Distortion& distortion, std::span<float> to) {
  const auto& [m, t] = distortion;
  const auto last = [](std::size_t size) { return static_cast<float>(size - 1); };
  const float middle_y = last(height) / 2, middle_x = last(width) / 2;
  const auto pixel = [&](float y, float x) {
    return from[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
  };
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const float dy = static_cast<float>(row) - middle_y;
      const float dx = static_cast<float>(column) - middle_x;
      const float y = std::clamp(middle_y + m[0][0] * dy + m[0][1] * dx + t[0], 0.0f, last(height));
      const float x = std::clamp(middle_x + m[1][0] * dy + m[1][1] * dx + t[1], 0.0f, last(width));
      const float top = std::floor(y), left = std::floor(x);
      const float bottom = std::min(top + 1, last(height)), right = std::min(left + 1, last(width));
      const float low = y - top, far = x - left;
      to[row * width + column] =
          (1 - low) * ((1 - far) * pixel(top, left) + far * pixel(top, right)) +
          low * ((1 - far) * pixel(bottom, left) + far * pixel(bottom, right));
    }
  }
}

}  // namespace glassformer
