// Distortions of pictures.

#include "train/distortion.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace glassformer::test {
namespace {

std::vector<float> numbered(std::size_t count) {
  std::vector<float> pixels(count);
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  return pixels;
}

std::vector<float> distorted(const std::vector<float>& from, std::size_t height, std::size_t width,
                             const Distortion& distortion) {
  std::vector<float> to(from.size());
  distort(from, height, width, distortion, to);
  return to;
}

}  // namespace

TEST_CASE("a distortion that changes nothing returns the picture", "[train]") {
  const std::vector<float> picture = numbered(12);
  CHECK(distorted(picture, 3, 4, {}) == picture);
}

TEST_CASE("a picture moves, and its edge continues", "[train]") {
  CHECK(distorted(numbered(6), 2, 3, {.t = {0, 1}}) == std::vector<float>{1, 2, 2, 4, 5, 5});
  CHECK(distorted(numbered(6), 2, 3, {.t = {1, 0}}) == std::vector<float>{3, 4, 5, 3, 4, 5});
  CHECK(distorted(numbered(6), 2, 3, {.t = {0, 0.5f}}) ==
        std::vector<float>{0.5f, 1.5f, 2, 3.5f, 4.5f, 5});
}

TEST_CASE("a quarter turn around the middle", "[train]") {
  // Row y, column x of the result shows column y, row 2 - x of the picture.
  CHECK(distorted(numbered(9), 3, 3, {.m = {{0, -1}, {1, 0}}}) ==
        std::vector<float>{6, 3, 0, 7, 4, 1, 8, 5, 2});
}

TEST_CASE("random distortions stay within their limits, and follow the seed", "[train]") {
  SplitMix64 random(3), same(3);
  float most = 0;
  for (int i = 0; i < 1000; ++i) {
    const Distortion distortion = Distortion::at_random(1, 20, 40, random);
    const Distortion again = Distortion::at_random(1, 20, 40, same);
    CHECK(distortion.m[0][0] == again.m[0][0]);
    CHECK(std::abs(distortion.t[0]) <= 2.0f);
    CHECK(std::abs(distortion.t[1]) <= 4.0f);
    const auto& m = distortion.m;
    const float area = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    CHECK(area >= 0.85f * 0.85f * 0.999f);
    CHECK(area <= 1.15f * 1.15f * 1.001f);
    most = std::max(most, std::abs(std::atan2(m[0][1], m[1][1])));
  }
  CHECK(most > 0.1f);
  const Distortion none = Distortion::at_random(0, 20, 40, random);
  CHECK(none.m[0][0] == 1.0f);
  CHECK(none.m[0][1] == 0.0f);
  CHECK(none.t[0] == 0.0f);
}

}  // namespace glassformer::test
