// The steps from a picture to a model's input, compared with the library transformers.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "image/checks.hpp"
#include "image/picture_steps.hpp"
#include "support/error_of.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

PictureSteps steps_of(std::string_view json) {
  return read_picture_steps(json, PictureProcessor::vit);
}

}  // namespace

TEST_CASE("fields that are absent or null have the class's defaults", "[image]") {
  CHECK(steps_of("{}") == usual_picture_steps(PictureProcessor::vit));
  CHECK(steps_of(R"({"do_resize": null, "size": null, "image_mean": null})") ==
        usual_picture_steps(PictureProcessor::vit));
  const PictureSteps deit = usual_picture_steps(PictureProcessor::deit);
  CHECK(read_picture_steps("{}", PictureProcessor::deit) == deit);
  for (const char* name :
       {"DeiTImageProcessor", "DeiTImageProcessorFast", "DeiTFeatureExtractor"}) {
    CHECK(steps_of(R"({"image_processor_type": ")" + std::string(name) + "\"}") == deit);
  }
  CHECK(deit.size == PictureSteps::Size{256, 256});
  CHECK(deit.crop == PictureSteps::Size{224, 224});
  CHECK(deit.resampling == Resampling::bicubic);
}

TEST_CASE("sizes have several forms", "[image]") {
  CHECK(steps_of(R"({"size": 32})").size == PictureSteps::Size{32, 32});
  CHECK(steps_of(R"({"size": [12, 20]})").size == PictureSteps::Size{12, 20});
  CHECK(steps_of(R"({"size": {"height": 12, "width": 20}})").size == PictureSteps::Size{12, 20});
  const PictureSteps edge = steps_of(R"({"size": {"shortest_edge": 9}, "do_center_crop": true,
                                         "crop_size": 8})");
  CHECK(edge.shortest_edge == 9);
  CHECK(edge.final_size() == PictureSteps::Size{8, 8});
  CHECK(!steps_of(R"({"size": {"shortest_edge": 9}})").final_size());
  // In this class, one number is the shorter side.
  const auto clip = [](const char* json) {
    return read_picture_steps(json, PictureProcessor::clip);
  };
  CHECK(clip("{}").shortest_edge == 224);
  CHECK(clip(R"({"size": 9})").shortest_edge == 9);
  // As the field says, in every class.
  CHECK(steps_of(R"({"size": 16, "default_to_square": false})").shortest_edge == 16);
  CHECK(!clip(R"({"size": 9, "default_to_square": true})").shortest_edge);
  CHECK(clip(R"({"size": 9, "default_to_square": true})").size == PictureSteps::Size{9, 9});
  for (const char* json : {R"({"size": [12, 20]})", R"({"size": {"height": 12, "width": 20}})"}) {
    CHECK(!clip(json).shortest_edge);
    CHECK(clip(json).size == PictureSteps::Size{12, 20});
  }
}

TEST_CASE("steps are written so that they are read again", "[image]") {
  for (const char* json :
       {"{}", R"({"image_processor_type": "DeiTImageProcessor", "do_rescale": false})",
        R"({"size": {"shortest_edge": 30}, "resample": 1, "image_mean": [0.1, 0.2, 0.3],
            "image_std": 2, "rescale_factor": 0.5, "do_normalize": false})",
        R"({"do_resize": false, "resample": 0, "do_center_crop": true, "crop_size": [3, 4]})"}) {
    INFO(json);
    const PictureSteps steps = steps_of(json);
    CHECK(steps_of(to_json(steps)) == steps);
  }
}

TEST_CASE("steps that are not known are refused by their names", "[image]") {
  const auto check = [](std::string_view json, ErrorCode code, const char* words) {
    INFO(json);
    const Error error = error_of([&] { steps_of(json); });
    CHECK(error.code() == code);
    CHECK_THAT(error.what(), ContainsSubstring("preprocessor_config.json: "));
    CHECK_THAT(error.what(), ContainsSubstring(words));
  };
  constexpr ErrorCode unsupported = ErrorCode::unsupported, invalid = ErrorCode::invalid_config;
  check(R"({"image_processor_type": "SiglipImageProcessor"})", unsupported, "SiglipImageProcessor");
  check(R"({"image_processor_type": "CLIPImageProcessor", "use_square_size": true})", unsupported,
        "use_square_size");
  check(R"({"feature_extractor_type": "BeitFeatureExtractor"})", unsupported, "feature_extractor");
  check(R"({"size": {"shortest_edge": 9, "longest_edge": 20}})", unsupported, "longest_edge");
  check(R"({"size": {"max_height": 9, "max_width": 20}})", unsupported, "max_height");
  check(R"({"crop_size": {"shortest_edge": 9}})", invalid, "height");
  check(R"({"resample": 4})", unsupported, "resample");
  check(R"({"resample": 6})", invalid, "resample");
  check(R"({"do_pad": true})", unsupported, "do_pad");
  check(R"({"size": 0})", invalid, "size");
  check(R"({"size": 100000})", invalid, "size");
  check(R"({"size": [1, 2, 3]})", invalid, "size");
  check(R"({"do_resize": 1})", invalid, "do_resize");
  check(R"({"image_std": [1, 0, 1]})", invalid, "image_std");
  check(R"({"image_mean": [1, 2]})", invalid, "image_mean");
  check(R"({"image_mean": "0.5"})", invalid, "image_mean");
  check("[]", invalid, "object");
  check("{", invalid, "");
}

TEST_CASE("a center is cut out, and zeros are added around a smaller picture", "[image]") {
  PictureSteps steps;
  steps.resizes = steps.rescales = steps.normalizes = false;
  steps.crops = true;
  steps.crop = {2, 5};
  const Picture picture = {3, 5, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
  const PreparedPicture result = prepare(picture, steps, 1);
  CHECK(result.values == std::vector<float>{0, 4, 5, 6, 0, 0, 7, 8, 9, 0});
  CHECK(result.region.left == -1);
  CHECK(result.region.top == 1);
  CHECK(result.region.width == 5);
  CHECK(result.region.height == 2);
}

TEST_CASE("channels are repeated, dropped or computed", "[image]") {
  PictureSteps steps;
  steps.resizes = steps.rescales = steps.normalizes = false;
  CHECK(prepare({2, 1, 1, {7, 9}}, steps, 3).values == std::vector<float>{7, 9, 7, 9, 7, 9});
  CHECK(prepare({1, 1, 4, {1, 2, 3, 4}}, steps, 3).values == std::vector<float>{1, 2, 3});
  CHECK(prepare({1, 1, 3, {255, 0, 0}}, steps, 1).values == std::vector<float>{76});
  CHECK(prepare({1, 1, 4, {10, 200, 30, 0}}, steps, 1).values == std::vector<float>{124});
}

TEST_CASE("pictures of wrong sizes are refused before memory is allocated", "[image]") {
  const auto code_of = [](const Picture& picture) {
    return error_of([&] { prepare(picture, {}, 3); }).code();
  };
  CHECK(code_of({0, 4, 3, {}}) == ErrorCode::empty_input);
  CHECK(code_of({2, 2, 2, std::vector<std::uint8_t>(8)}) == ErrorCode::invalid_option);
  CHECK(code_of({2, 2, 3, std::vector<std::uint8_t>(11)}) == ErrorCode::invalid_option);
  CHECK(code_of({1 << 20, 1, 3, {}}) == ErrorCode::too_large);
  CHECK(code_of({60000, 60000, 3, {}}) == ErrorCode::too_large);
  PictureSteps edge;
  edge.shortest_edge = 1000;
  const Picture line = {65536, 1, 1, std::vector<std::uint8_t>(65536)};
  CHECK(error_of([&] { prepare(line, edge, 3); }).code() == ErrorCode::too_large);
}

}  // namespace glassformer::test
