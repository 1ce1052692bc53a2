// Encoders that read pictures, compared with the formulas and with each picture alone.

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "base/split_mix.hpp"
#include "models/initialize.hpp"
#include "models/model.hpp"
#include "models/stack/patch_embeddings.hpp"
#include "support/error_of.hpp"

namespace glassformer::test {
namespace {

constexpr PatchInput picture_input = {
    .height = 6, .width = 9, .channels = 2, .patch_height = 3, .patch_width = 3};

// A classifier of pictures with two layers.
Architecture picture_classifier() {
  LayerConfig layer;
  layer.attention = {.n_heads = 2, .n_kv_heads = 2, .d_head = 4};
  layer.feed_forward = {.d_ff = 16};
  StackConfig stack;
  stack.input = picture_input;
  stack.d_model = 8;
  stack.max_length = picture_input.rows();
  stack.layers = {layer, layer};
  stack.final_norm = true;
  Architecture architecture;
  architecture.encoder = stack;
  architecture.head = {.kind = HeadKind::sequence_classes, .outputs = 3, .pooling = Pooling::first};
  return architecture;
}

// A model with random weights, and their values by name.
struct PictureModel {
  PictureModel() : model(make_encoder_model(picture_classifier(), Compute::f32)) {
    SplitMix64 random(7);
    for (const NamedParameter& parameter : model->parameters()) {
      std::vector<float>& of = values[parameter.name];
      of = initial_values(parameter, random);
      for (float& value : of) value += 0.1f * static_cast<float>(random.next() >> 40) * 0x1p-24f;
      parameter.set(of, 0);
    }
  }

  std::unique_ptr<EncoderModel> model;
  std::map<std::string, std::vector<float>> values;
  Session session;
};

void add(std::vector<float> pixels, Pictures& pictures) {
  pictures.add({std::move(pixels), picture_input.height, picture_input.width},
               picture_input.rows());
}

std::vector<float> random_picture(SplitMix64& random) {
  std::vector<float> pixels(picture_input.channels * picture_input.height * picture_input.width);
  for (float& pixel : pixels) pixel = static_cast<float>(random.next() >> 40) * 0x1p-23f - 1;
  return pixels;
}

}  // namespace

TEST_CASE("a picture's rows are a convolution of its patches, a learned row and positions",
          "[pictures]") {
  PictureModel of;
  SplitMix64 random(3);
  const std::vector<float> pixels = random_picture(random);
  Pictures pictures;
  add(pixels, pictures);
  const auto output =
      (*of.model)(pictures, {.names = {"encoder.embed_patches", "encoder.embeddings"}}, of.session);
  REQUIRE(output.traces.at(0).size() == 2);
  const TracedTensor& patches = output.traces[0][0];
  const TracedTensor& sum = output.traces[0][1];
  REQUIRE(patches.shape == std::vector<std::size_t>{7, 8});

  const std::size_t height = picture_input.height, width = picture_input.width,
                    channels = picture_input.channels, size = picture_input.patch_height;
  const std::vector<float>& kernel = of.values.at("encoder.embed_patches.weight");
  const std::vector<float>& bias = of.values.at("encoder.embed_patches.bias");
  const std::vector<float>& positions = of.values.at("encoder.embed_positions.weight");
  for (std::size_t d = 0; d < 8; ++d) {
    CHECK(patches.data[d] == of.values.at("encoder.class_token")[d]);
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t column = 0; column < 3; ++column) {
        double expected = static_cast<double>(bias[d]);
        for (std::size_t c = 0; c < channels; ++c) {
          for (std::size_t y = 0; y < size; ++y) {
            for (std::size_t x = 0; x < size; ++x) {
              expected += static_cast<double>(kernel[((d * channels + c) * size + y) * size + x]) *
                          static_cast<double>(
                              pixels[(c * height + row * size + y) * width + column * size + x]);
            }
          }
        }
        const std::size_t at = (1 + row * 3 + column) * 8 + d;
        CHECK(std::abs(static_cast<double>(patches.data[at]) - expected) < 1e-5);
      }
    }
  }
  for (std::size_t i = 0; i < sum.data.size(); ++i) {
    CHECK(sum.data[i] == patches.data[i] + positions[i]);
  }
}

TEST_CASE("pictures of a batch get the same answers as each alone, to the bit", "[pictures]") {
  PictureModel of;
  SplitMix64 random(4);
  Pictures both;
  std::vector<float> alone;
  for (int i = 0; i < 2; ++i) {
    const std::vector<float> pixels = random_picture(random);
    add(pixels, both);
    Pictures one;
    add(pixels, one);
    const auto output = (*of.model)(one, {}, of.session);
    alone.insert(alone.end(), output.logits.begin(), output.logits.end());
  }
  const auto output = (*of.model)(both, {.attention = true}, of.session);
  CHECK(std::vector<float>(output.logits.begin(), output.logits.end()) == alone);
  CHECK(output.attention.at(1).queries == picture_input.rows());
}

TEST_CASE("a model of pictures lists its tensors, and refuses tokens", "[pictures]") {
  PictureModel of;
  std::vector<std::string> names;
  for (const ModelTensor& tensor : of.model->tensors(of.session)) names.push_back(tensor.name);
  CHECK(names.front() == "encoder.embed_patches");
  CHECK(std::ranges::find(names, "encoder.embeddings") != names.end());
  CHECK(std::ranges::find(names, "encoder.layers.1.output") != names.end());
  Batch tokens;
  tokens.add(std::vector<std::int32_t>{1, 2});
  CHECK(error_of([&] { (*of.model)(tokens, {}, of.session); }).code() == ErrorCode::internal);
}

}  // namespace glassformer::test
