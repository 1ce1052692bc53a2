// Resizing, compared with Pillow's bytes.

#include "image/resize.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "base/split_mix.hpp"
#include "support/picture_files.hpp"

namespace glassformer::test {

TEST_CASE("resized pictures have Pillow's bytes", "[image]") {
  constexpr std::array resamplings = {Resampling::nearest, Resampling::lanczos,
                                      Resampling::bilinear, Resampling::bicubic};
  const nlohmann::json cases = read_json(pictures_folder / "resized.json");
  REQUIRE(cases.size() >= 200);
  std::array<std::size_t, 4> equal = {}, all = {};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const nlohmann::json& of = cases[i];
    Picture picture = {of[2], of[3], of[1], {}};
    SplitMix64 random(i);
    for (std::size_t b = 0; b < picture.width * picture.height * picture.channels; ++b) {
      picture.bytes.push_back(static_cast<std::uint8_t>(random.next() >> 56));
    }
    const std::size_t filter = of[0];
    const Picture result = resize(picture, of[4], of[5], resamplings[filter]);
    ++all[filter];
    equal[filter] += hash_of(result.bytes) == of[6].get<std::string>() ? 1 : 0;
  }
  CHECK(equal == all);
}

TEST_CASE("a picture of the wanted size stays as it is, and one color stays one color", "[image]") {
  const Picture picture = {3, 2, 1, {0, 255, 3, 4, 250, 6}};
  CHECK(resize(picture, 3, 2, Resampling::lanczos) == picture);
  const Picture plain = {5, 7, 3, std::vector<std::uint8_t>(105, 201)};
  for (const Resampling resampling :
       {Resampling::nearest, Resampling::lanczos, Resampling::bilinear, Resampling::bicubic}) {
    const Picture result = resize(plain, 11, 3, resampling);
    CHECK(result.bytes == std::vector<std::uint8_t>(99, 201));
  }
}

}  // namespace glassformer::test
