#include "weights/quantize.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/initialize.hpp"
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
  const QuantizedMatrix quantized = quantize(matrix, rows);

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
  const QuantizedMatrix quantized = quantize(row, 1);
  CHECK(quantized.scales == std::vector<float>{1.0f});
  CHECK(quantized.values == std::vector<std::int8_t>{127, 0, 2, 2, 0, -2, -2, -127});
}

TEST_CASE("a quantized matrix loads as its integers times their scales", "[io]") {
  const std::vector<float> matrix = {0.5f, -0.25f, 0.125f, 8.0f, 1.0f, -2.0f};
  const QuantizedMatrix quantized = quantize(matrix, 2);
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
