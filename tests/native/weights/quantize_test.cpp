#include "weights/quantize.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/initialize.hpp"
#include "weights/floats.hpp"
#include "weights/loader.hpp"

namespace glassformer {
namespace {

TEST_CASE("quantized weights differ from the originals by at most half a step", "[io]") {
  constexpr std::size_t rows = 40, columns = 33;
  SplitMix64 random(4);
  std::vector<float> matrix(rows * columns);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const auto magnitude =
        static_cast<float>(std::pow(10.0, static_cast<double>(i / columns) - 20));
    matrix[i] = (2 * random.uniform() - 1) * magnitude;  // each row ten times the previous one
  }
  std::fill_n(matrix.begin() + 3 * columns, columns, 0.0f);  // a row of zeros
  const QuantizedMatrix quantized = quantize(matrix, rows, 8);

  for (std::size_t row = 0; row < rows; ++row) {
    int largest = 0;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      const double step = static_cast<double>(quantized.scales[row]);
      const double distance = std::abs(quantized.values[i] * step - static_cast<double>(matrix[i]));
      if (!(distance <= 0.5000001 * step)) FAIL_CHECK("row " << row << ": off by " << distance);
      largest = std::max(largest, std::abs(static_cast<int>(quantized.values[i])));
    }
    CHECK(largest == (row == 3 ? 0 : 127));
    CHECK(quantized.scales[row] > 0);
  }
}

TEST_CASE("integers are rounded to nearest, ties to even", "[io]") {
  const std::vector<float> row = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.4f, -126.6f};
  const QuantizedMatrix quantized = quantize(row, 1, 8);
  CHECK(quantized.scales == std::vector<float>{1.0f});
  CHECK(quantized.values == std::vector<std::int8_t>{127, 0, 2, 2, 0, -2, -2, -127});
}

TEST_CASE("4-bit weights differ from the originals by at most half a step, or are the extreme",
          "[io]") {
  constexpr std::size_t rows = 40, columns = 75;  // groups of 32, 32 and 11
  SplitMix64 random(4);
  std::vector<float> matrix(rows * columns);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const auto magnitude =
        static_cast<float>(std::pow(10.0, static_cast<double>(i / columns) - 20));
    matrix[i] = (2 * random.uniform() - 1) * magnitude;
  }
  std::fill_n(matrix.begin() + 3 * columns, columns, 0.0f);
  const QuantizedMatrix quantized = quantize(matrix, rows, 4);
  REQUIRE(quantized.scales.size() == rows * 3);
  REQUIRE(quantized.values.size() == matrix.size());
  double error = 0, error_of_sevens = 0;
  for (std::size_t group = 0; group < rows * 3; ++group) {
    const std::size_t first = group / 3 * columns + group % 3 * 32;
    const std::size_t count = group % 3 == 2 ? 11 : 32;
    const float scale = quantized.scales[group];
    CHECK(scale == round_to_bfloat(scale));
    int least = 0;
    float extreme = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      extreme = std::max(extreme, std::abs(matrix[i]));
    }
    for (std::size_t i = first; i < first + count; ++i) {
      const int integer = quantized.values[i];
      least = std::min(least, integer);
      const auto step = static_cast<double>(std::abs(scale));
      const double distance =
          std::abs(integer * static_cast<double>(scale) - static_cast<double>(matrix[i]));
      // bfloat16 has 8 bits, so that 8 steps may be off by a 64th of one.
      const double most = integer == 7 ? 1.02 : integer == -8 ? 0.52 : 0.5000001;
      if (!(distance <= most * step)) FAIL_CHECK("group " << group << ": off by " << distance);
      if (extreme == 0) continue;
      const float seventh = extreme / 7;
      const float other = std::nearbyint(matrix[i] / seventh) * seventh - matrix[i];
      error += std::pow(distance / static_cast<double>(extreme), 2);
      error_of_sevens += std::pow(static_cast<double>(other / extreme), 2);
    }
    CHECK(least == (group / 3 == 3 ? 0 : -8));
    CHECK(scale != 0);
  }
  CHECK(error < error_of_sevens);  // why integers are not from -7 to 7
}

TEST_CASE("two 4-bit integers share a byte, and rows start with one of their own", "[io]") {
  const std::vector<std::int8_t> values{-8, 7, 0, -1, 1, 2};
  const std::vector<std::byte> bytes = packed_nibbles(values, 3);
  CHECK(bytes == std::vector{std::byte{0xF0}, std::byte{0x08}, std::byte{0x97}, std::byte{0x0A}});
  std::vector<std::int8_t> back(values.size());
  unpack_nibbles(bytes, 3, back);
  CHECK(back == values);
}

TEST_CASE("a quantized matrix loads as its integers times their scales", "[io]") {
  const std::vector<float> matrix = {0.5f, -0.25f, 0.125f, 8.0f, 1.0f, -2.0f};
  const QuantizedMatrix quantized = quantize(matrix, 2, 8);
  const std::vector<NamedTensor> tensors = {
      {"x.weight", DType::i8, {2, 3}, std::as_bytes(std::span(quantized.values))},
      {"x.weight_scale", DType::f32, {2}, std::as_bytes(std::span(quantized.scales))}};
  const std::vector<std::byte> bytes = write_safetensors(tensors);
  const auto file = SafetensorsFile::parse(bytes);
  std::vector<float> got;
  const auto set = [&](std::span<const float> values, std::size_t) {
    got.assign(values.begin(), values.end());
  };
  WeightsLoader loader(file.header(), {{.name = "x.weight", .shape = {2, 3}, .set = set}});
  for (std::size_t i = 0; i < loader.size(); ++i) {
    loader.load(i, file.bytes(loader.tensor(i)));
  }
  loader.finish();
  REQUIRE(got.size() == 6);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i] == static_cast<float>(quantized.values[i]) * quantized.scales[i / 3]);
    CHECK(std::abs(got[i] - matrix[i]) <= 0.500001f * quantized.scales[i / 3]);
  }
}

}  // namespace
}  // namespace glassformer
