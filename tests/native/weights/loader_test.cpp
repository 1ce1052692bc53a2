#include "weights/loader.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/allocations.hpp"
#include "support/io_fixture.hpp"
#include "weights/floats.hpp"

namespace glassformer {
namespace {

using test::bytes_of;
using test::check_error;

using Values = std::map<std::string, std::vector<float>>;

// Declares a matrix and a vector per layer of a model with two layers; set values are stored in
// `values`.
std::vector<NamedParameter> parameters_of(Values& values) {
  std::vector<NamedParameter> parameters;
  const ParameterScope layers = ParameterScope(parameters).scope("encoder").scope("layers");
  for (std::size_t i = 0; i < 2; ++i) {
    const auto declare = [&](const char* name, std::vector<std::size_t> shape) {
      const std::string full = "encoder.layers." + std::to_string(i) + "." + name;
      const std::size_t row = shape.size() > 1 ? shape[1] : 1;
      const auto set = [&values, full, row](std::span<const float> data, std::size_t first) {
        CHECK(values[full].size() == first * row);  // rows are set in order
        values[full].insert(values[full].end(), data.begin(), data.end());
      };
      layers.scope(i).declare(name, std::move(shape), set);
    };
    declare("weight", {2, 3});
    declare("bias", {2});
  }
  return parameters;
}

const std::vector<float> matrix{1, 2, 3, 4, 5, 6};
const std::vector<float> vector{7, 8};

NamedTensor f32(const std::string& name, std::vector<std::size_t> shape,
                const std::vector<float>& values) {
  return {name, DType::f32, std::move(shape), bytes_of(values)};
}

std::vector<NamedTensor> complete() {
  return {f32("encoder.layers.0.weight", {2, 3}, matrix), f32("encoder.layers.0.bias", {2}, vector),
          f32("encoder.layers.1.weight", {2, 3}, matrix),
          f32("encoder.layers.1.bias", {2}, vector)};
}

// Binds and loads a file of these tensors in the given order (empty: file order).
Values load(const std::vector<NamedTensor>& tensors, const std::vector<std::size_t>& order = {}) {
  const std::vector<std::byte> bytes = write_safetensors(tensors);
  const SafetensorsFile file = SafetensorsFile::parse(bytes);
  Values values;
  WeightsLoader loader(file.header(), parameters_of(values));
  for (std::size_t i = 0; i < loader.size(); ++i) {
    const std::size_t index = order.empty() ? i : order[i];
    loader.load(index, file.bytes(loader.tensor(index)));
  }
  loader.finish();
  return values;
}

TEST_CASE("parameters are named by scope and filled from the file", "[io]") {
  const Values values = load(complete());
  CHECK(values.size() == 4);
  CHECK(values.at("encoder.layers.0.weight") == matrix);
  CHECK(values.at("encoder.layers.1.bias") == vector);
}

TEST_CASE("half-precision tensors are converted to floats", "[io]") {
  const std::vector<std::uint16_t> halves{0x3C00, 0xC000, 0x3800, 0, 0x4200, 0x4400};
  const std::vector<std::uint16_t> bfloats{0x3F80, 0xC000};
  std::vector<NamedTensor> tensors = complete();
  tensors[0] = {tensors[0].name, DType::f16, {2, 3}, bytes_of(halves)};
  tensors[1] = {tensors[1].name, DType::bf16, {2}, bytes_of(bfloats)};
  const Values values = load(tensors);
  CHECK(values.at("encoder.layers.0.weight") == std::vector<float>{1, -2, 0.5f, 0, 3, 4});
  CHECK(values.at("encoder.layers.0.bias") == std::vector<float>{1, -2});
}

TEST_CASE("I8 tensors are scaled per row, in either order of loading", "[io]") {
  const std::vector<std::int8_t> ints{1, -2, 127, -127, 0, 3};
  const std::vector<float> scales{0.5f, 2};
  std::vector<NamedTensor> tensors = complete();
  tensors[0] = {tensors[0].name, DType::i8, {2, 3}, bytes_of(ints)};
  tensors.push_back(f32("encoder.layers.0.weight_scale", {2}, scales));
  const std::vector<float> expected{0.5f, -1, 63.5f, -254, 0, 6};
  CHECK(load(tensors).at("encoder.layers.0.weight") == expected);
  CHECK(load(tensors, {4, 3, 2, 1, 0}).at("encoder.layers.0.weight") == expected);
}

void check_refused(ErrorCode code, const std::string& message,
                   const std::vector<NamedTensor>& tensors) {
  check_error(code, "model.safetensors: " + message, [&] { load(tensors); });
}

TEST_CASE("a parameter requested as integers gets the stored integers, or quantized floats",
          "[io]") {
  const std::vector<std::int8_t> integers{127, -127, 1, 2, 3, 127};
  const std::vector<float> stored_scales{0.5f, 2.0f}, floats{127, -127, 0.6f, 2, 254, -1};
  std::vector<std::int8_t> values;
  std::vector<float> scales;
  const auto load_matrix = [&](const std::vector<NamedTensor>& tensors, std::size_t pieces) {
    values.clear();
    scales.clear();
    std::vector<NamedParameter> parameters;
    ParameterScope(parameters)
        .declare_integers(
            "weight", {2, 3}, 8,
            [&](std::span<const std::int8_t> q, std::span<const float> s, std::size_t) {
              values.insert(values.end(), q.begin(), q.end());
              scales.insert(scales.end(), s.begin(), s.end());
            });
    const std::vector<std::byte> bytes = write_safetensors(tensors);
    const SafetensorsFile file = SafetensorsFile::parse(bytes);
    WeightsLoader loader(file.header(), parameters);
    for (std::size_t i = loader.size(); i-- > 0;) {  // scales first or last
      const auto data = file.bytes(loader.tensor(i));
      const std::size_t count = loader.tensor(i).shape.size() > 1 ? pieces : 1;
      const std::size_t piece = data.size() / count;
      for (std::size_t at = 0; at < data.size(); at += piece) {
        loader.load(i, data.subspan(at, piece));
      }
    }
    loader.finish();
  };
  const std::size_t pieces = GENERATE(1, 2);
  const NamedTensor matrix8{"weight", DType::i8, {2, 3}, bytes_of(integers)};
  const NamedTensor scales_of_it = f32("weight_scale", {2}, stored_scales);
  for (const auto& tensors : {std::vector{matrix8, scales_of_it}, {scales_of_it, matrix8}}) {
    load_matrix(tensors, pieces);
    CHECK(values == integers);
    CHECK(scales == stored_scales);
  }
  load_matrix({f32("weight", {2, 3}, floats)}, pieces);
  CHECK(values == std::vector<std::int8_t>{127, -127, 1, 1, 127, 0});  // ties to even
  CHECK(scales == std::vector<float>{1.0f, 2.0f});
}

TEST_CASE("missing, unexpected, misshapen and mistyped tensors are refused by name", "[io]") {
  std::vector<NamedTensor> tensors = complete();
  tensors.pop_back();
  check_refused(ErrorCode::missing_tensor, "encoder.layers.1.bias: expected shape [2], got none",
                tensors);

  tensors = complete();
  tensors[1].name = "encoder.layers.0.bias_";
  check_refused(ErrorCode::missing_tensor, "encoder.layers.0.bias: ", tensors);

  tensors = complete();
  tensors.push_back(f32("decoder.weight", {2}, vector));
  check_refused(ErrorCode::unexpected_tensor, "decoder.weight: the model has no such", tensors);

  tensors = complete();
  tensors[2].shape = {3, 2};
  check_refused(ErrorCode::shape_mismatch,
                "encoder.layers.1.weight: expected shape [2, 3], got [3, 2]", tensors);
  tensors[2].shape = {6};
  check_refused(ErrorCode::shape_mismatch, "encoder.layers.1.weight: ", tensors);
}

TEST_CASE("an I8 tensor needs F32 scales for its rows", "[io]") {
  const std::vector<std::int8_t> ints(6, 1);
  const std::vector<float> scales{1, 1};
  std::vector<NamedTensor> tensors = complete();
  tensors[0] = {tensors[0].name, DType::i8, {2, 3}, bytes_of(ints)};
  check_refused(ErrorCode::missing_tensor,
                "encoder.layers.0.weight_scale: expected shape [2] for an I8 tensor, got none; "
                "integers that another program has packed cannot be read: load the original model",
                tensors);

  // Packed integers, as written by other programs.
  const std::vector<std::uint8_t> nibbles(3);
  std::vector<NamedTensor> wrong = tensors;
  wrong[0] = {tensors[0].name, DType::u8, {3, 1}, bytes_of(nibbles)};
  check_refused(ErrorCode::unsupported_dtype,
                "encoder.layers.0.weight: expected F32, F16, BF16 or I8, got U8; integers", wrong);
  const std::vector<std::int32_t> words(2);
  wrong[0] = {"encoder.layers.0.qweight", DType::i32, {2}, bytes_of(words)};
  check_refused(ErrorCode::missing_tensor,
                "encoder.layers.0.weight: expected shape [2, 3], got none; integers", wrong);

  wrong = tensors;
  wrong.push_back(f32("encoder.layers.0.weight_scale", {2, 1}, scales));
  check_refused(ErrorCode::shape_mismatch,
                "encoder.layers.0.weight_scale: expected shape [2], got [2, 1]", wrong);

  const std::vector<std::uint16_t> halves{0x3C00, 0x3C00};
  wrong = tensors;
  wrong.push_back({"encoder.layers.0.weight_scale", DType::f16, {2}, bytes_of(halves)});
  check_refused(ErrorCode::unsupported_dtype,
                "encoder.layers.0.weight_scale: expected F32, got F16", wrong);

  // Scales without an I8 tensor.
  wrong = complete();
  wrong.push_back(f32("encoder.layers.0.weight_scale", {2}, scales));
  check_refused(ErrorCode::unexpected_tensor, "encoder.layers.0.weight_scale: ", wrong);
}

TEST_CASE("a U8 tensor with BF16 scales has two 4-bit integers in a byte", "[io]") {
  const std::string name = "encoder.layers.0.weight";
  const std::vector<std::uint8_t> nibbles{0xF0, 0x08, 0x97, 0x0A};  // -8, 7, 0; -1, 1, 2
  const std::vector<std::uint16_t> scales{0x3F00, 0xC000};          // 0.5, -2
  std::vector<NamedTensor> tensors = complete();
  tensors[0] = {name, DType::u8, {2, 2}, bytes_of(nibbles)};
  tensors.push_back({name + "_scale", DType::bf16, {2, 1}, bytes_of(scales)});
  const std::vector<float> expected{-4, 3.5f, 0, 2, -2, -4};
  CHECK(load(tensors).at(name) == expected);
  CHECK(load(tensors, {4, 3, 2, 1, 0}).at(name) == expected);

  // For a parameter with 4 bits as they are, for one with 8 bits quantized again.
  for (const unsigned bits : {4u, 8u}) {
    std::vector<std::int8_t> values;
    std::vector<float> got;
    std::vector<NamedParameter> parameters;
    ParameterScope(parameters)
        .declare_integers(
            name, {2, 3}, bits,
            [&](std::span<const std::int8_t> q, std::span<const float> s, std::size_t) {
              values.insert(values.end(), q.begin(), q.end());
              got.insert(got.end(), s.begin(), s.end());
            });
    const std::vector<std::byte> bytes = write_safetensors(std::vector{tensors[0], tensors.back()});
    const SafetensorsFile file = SafetensorsFile::parse(bytes);
    WeightsLoader loader(file.header(), parameters);
    for (std::size_t i = 0; i < loader.size(); ++i) {  // row by row
      const auto data = file.bytes(loader.tensor(i));
      loader.load(i, data.first(data.size() / 2));
      loader.load(i, data.subspan(data.size() / 2));
    }
    loader.finish();
    CHECK(values == (bits == 4 ? std::vector<std::int8_t>{-8, 7, 0, -1, 1, 2}
                               : std::vector<std::int8_t>{-127, 111, 0, 64, -64, -127}));
    CHECK(got ==
          (bits == 4 ? std::vector<float>{0.5f, -2} : std::vector<float>{4.0f / 127, 4.0f / 127}));
  }

  std::vector<NamedTensor> wrong = tensors;
  wrong[0].shape = {4, 1};
  check_refused(ErrorCode::shape_mismatch, name + ": expected shape [2, 2], got [4, 1]", wrong);
  wrong = tensors;
  wrong.back().shape = {2};
  check_refused(ErrorCode::shape_mismatch, name + "_scale: expected shape [2, 1], got [2]", wrong);
  wrong = tensors;
  wrong.back().dtype = DType::f16;
  check_refused(ErrorCode::unsupported_dtype, name + "_scale: expected BF16, got F16", wrong);
  for (const std::uint16_t bad :
       std::vector<std::uint16_t>{0x7FC0, 0x7F80, 0x7F00}) {  // NaN, infinity, too large
    const std::vector<std::uint16_t> other{0x3F00, bad};
    wrong = tensors;
    wrong.back().bytes = bytes_of(other);
    check_refused(ErrorCode::invalid_weights,
                  name + "_scale: expected scales whose product with 127 is finite, got ", wrong);
  }
  // Of a vector there are no groups.
  const std::vector<std::uint8_t> one(1);
  wrong = complete();
  wrong[1] = {wrong[1].name, DType::u8, {1}, bytes_of(one)};
  wrong.push_back({wrong[1].name + "_scale", DType::bf16, {2, 1}, bytes_of(scales)});
  check_refused(ErrorCode::unsupported_dtype,
                wrong[1].name + ": expected F32, F16, BF16 or I8, got U8", wrong);
}

TEST_CASE("values that are not finite are refused by name", "[io]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto refused = [](std::size_t place, float value, const std::string& got) {
    std::vector<float> values = matrix;
    values[place] = value;
    std::vector<NamedTensor> tensors = complete();
    tensors[2] = f32(tensors[2].name, {2, 3}, values);
    check_refused(ErrorCode::invalid_weights,
                  "encoder.layers.1.weight: expected finite numbers, got " + got + " at element " +
                      std::to_string(place),
                  tensors);
  };
  refused(0, nan, "NaN");
  refused(3, infinity, "Infinity");
  refused(5, -infinity, "-Infinity");

  std::vector<NamedTensor> tensors = complete();
  const std::vector<std::uint16_t> halves{0x3C00, 0, 0, 0x7BFF, 0, 0xFC00}, bfloats{0x7F7F, 0x7FC0};
  tensors[0] = {tensors[0].name, DType::f16, {2, 3}, bytes_of(halves)};
  check_refused(ErrorCode::invalid_weights,
                "encoder.layers.0.weight: expected finite numbers, got "
                "-Infinity at element 5",
                tensors);
  tensors = complete();
  tensors[1] = {tensors[1].name, DType::bf16, {2}, bytes_of(bfloats)};
  check_refused(ErrorCode::invalid_weights, "encoder.layers.0.bias: ", tensors);

  const std::vector<std::int8_t> ints(6, 127);
  for (const float scale : {nan, infinity, 3e38f, -3e38f}) {
    const std::vector<float> scales{1, scale};
    tensors = complete();
    tensors[0] = {tensors[0].name, DType::i8, {2, 3}, bytes_of(ints)};
    tensors.push_back(f32("encoder.layers.0.weight_scale", {2}, scales));
    check_refused(ErrorCode::invalid_weights, "encoder.layers.0.weight_scale: expected scales",
                  tensors);
  }

  // The largest values of every type are finite.
  std::vector<float> numbers(1000, std::numeric_limits<float>::max());
  CHECK(first_not_finite(numbers) == 1000);
  numbers[777] = -std::numeric_limits<float>::denorm_min();
  CHECK(first_not_finite(numbers) == 1000);
  numbers[778] = -nan;
  CHECK(first_not_finite(numbers) == 778);
}

TEST_CASE("floats are converted to the nearest values of smaller types", "[io]") {
  std::vector<std::byte> room;
  const auto stored = [&](DType dtype, float value) {
    const auto bytes = from_f32(dtype, std::span(&value, 1), room);
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data(), sizeof bits);
    return bits;
  };
  for (const DType dtype : {DType::f16, DType::bf16}) {
    std::vector<float> values;  // all values of the type, in ascending order
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto small = static_cast<std::uint16_t>(bits);
      float value = 0;
      to_f32(dtype, std::as_bytes(std::span(&small, 1)), std::span(&value, 1));
      if (std::isnan(value)) {
        if (!(stored(dtype, value) > (dtype == DType::f16 ? 0x7C00 : 0x7F80))) FAIL(bits);
        continue;
      }
      if (stored(dtype, value) != small) FAIL("0x" << std::hex << bits);
      if (bits < 0x8000 && std::isfinite(value)) values.push_back(value);
    }
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      // The midpoint of two neighbors is rounded to the even one, values next to it to the nearer
      // one.
      const float middle = values[i] + (values[i + 1] - values[i]) / 2;
      const float before = std::nextafter(middle, 0.0f),
                  behind = std::nextafter(middle, std::numeric_limits<float>::max());
      const auto even = static_cast<std::uint16_t>(i % 2 == 0 ? i : i + 1);
      if (stored(dtype, middle) != even) FAIL(middle);
      if (before > values[i] && stored(dtype, before) != i) FAIL(before);
      if (behind < values[i + 1] && stored(dtype, behind) != i + 1) FAIL(behind);
      if (stored(dtype, -middle) != (even | 0x8000)) FAIL(-middle);
    }
  }
  CHECK(stored(DType::f16, 65519.0f) == 0x7BFF);
  CHECK(stored(DType::f16, 65520.0f) == 0x7C00);  // infinity
  CHECK(stored(DType::f16, 1e30f) == 0x7C00);
  CHECK(stored(DType::f16, 1e-30f) == 0);
  const float pair[] = {1.5f, -2.0f};
  CHECK(from_f32(DType::f32, pair, room).data() == std::as_bytes(std::span(pair)).data());
  check_error(ErrorCode::internal, "from_f32: expected F32, F16 or BF16, got I8",
              [&] { from_f32(DType::i8, pair, room); });
}

TEST_CASE("several files are bound together, and unused tensors are ignored or refused", "[io]") {
  const float one[] = {1, 2}, two[] = {3, 4, 5};
  const std::int64_t positions[] = {0, 1};
  const auto file_of = [](const NamedTensor& tensor) {
    return write_safetensors(std::span(&tensor, 1));
  };
  const auto bytes_of = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const std::vector<std::byte> a = file_of({"a", DType::f32, {2}, bytes_of(one)}),
                               b = file_of({"b", DType::f32, {3}, bytes_of(two)}),
                               c = file_of({"ids", DType::i64, {2}, bytes_of(positions)});
  std::map<std::string, std::vector<float>> got;
  const auto parameters = [&] {
    std::vector<NamedParameter> list;
    for (const auto& [name, size] : {std::pair{"a", 2}, std::pair{"b", 3}}) {
      list.push_back({.name = name,
                      .shape = {static_cast<std::size_t>(size)},
                      .set = [&got, name](std::span<const float> values, std::size_t) {
                        got[name].assign(values.begin(), values.end());
                      }});
    }
    return list;
  };
  const auto headers = [&](std::initializer_list<const std::vector<std::byte>*> files) {
    std::vector<SafetensorsHeader> list;
    for (const auto* file : files) list.push_back(SafetensorsFile::parse(*file).header());
    return list;
  };
  const auto ignored = [](const std::string& name) { return name == "ids"; };

  WeightsLoader loader(headers({&a, &c, &b}), parameters(), ignored);
  CHECK(loader.starts() == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(loader.tensor(2).name == "b");
  CHECK(!loader.ignores(0));
  CHECK(loader.ignores(1));
  CHECK(loader.ignored() == std::vector<std::string>{"ids"});
  CHECK(loader.staging_bytes() == 12);
  loader.load(0, bytes_of(one));
  loader.load(2, bytes_of(two));
  loader.finish();  // the ignored tensor is not needed
  CHECK(got["a"] == std::vector<float>{1, 2});
  CHECK(got["b"] == std::vector<float>{3, 4, 5});

  check_error(ErrorCode::unexpected_tensor, "ids: the model has no such parameter", [&] {
    WeightsLoader(headers({&a, &c, &b}), parameters());
  });
  check_error(ErrorCode::missing_tensor, "b: expected shape [3], got none", [&] {
    WeightsLoader(headers({&a, &c}), parameters(), ignored);
  });
  check_error(ErrorCode::invalid_safetensors, "a: in two files", [&] {
    WeightsLoader(headers({&a, &b, &a}), parameters());
  });
  const std::vector<std::byte> wrong = file_of({"a", DType::i64, {2}, bytes_of(positions)});
  check_error(ErrorCode::unsupported_dtype, "a: expected F32, F16, BF16 or I8, got I64", [&] {
    WeightsLoader(headers({&wrong, &b}), parameters());
  });
}

TEST_CASE("a file of unknown tensors takes no memory per tensor", "[io]") {
  std::string json = "{";
  for (int i = 0; i < 20'000; ++i) {
    json +=
        "\"" + std::to_string(i) + "\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]},";
  }
  json.back() = '}';
  SafetensorsHeader header = SafetensorsHeader::parse(json, 0);
  Values values;
  std::vector<NamedParameter> parameters = parameters_of(values);
  const std::size_t peak = test::peak_of([&] {
    check_error(ErrorCode::missing_tensor, "encoder.layers.0.weight",
                [&] { WeightsLoader(std::move(header), std::move(parameters)); });
  });
  CHECK(peak < 5000);
}

TEST_CASE("a loader needs every tensor exactly once, and whole", "[io]") {
  const std::vector<std::byte> bytes = write_safetensors(complete());
  const SafetensorsFile file = SafetensorsFile::parse(bytes);
  Values values;
  WeightsLoader loader(file.header(), parameters_of(values));
  CHECK(loader.staging_bytes() == 24);
  const auto data = file.bytes(loader.tensor(0));
  check_error(ErrorCode::invalid_safetensors,
              "encoder.layers.0.bias: expected 8 bytes, or rows of 8, got 4",
              [&] { loader.load(0, data.first(4)); });
  loader.load(0, data);
  check_error(ErrorCode::internal, "encoder.layers.0.bias: loaded twice",
              [&] { loader.load(0, data); });
  check_error(ErrorCode::internal, "expected a tensor below 4, got 4",
              [&] { loader.load(4, data); });
  check_error(ErrorCode::missing_tensor,
              "encoder.layers.0.weight: expected 24 bytes of data, got 0",
              [&] { loader.finish(); });

  // The rows of a matrix arrive one at a time.
  const auto matrix_data = file.bytes(loader.tensor(1));
  check_error(ErrorCode::invalid_safetensors, "expected 24 bytes, or rows of 12, got 8",
              [&] { loader.load(1, matrix_data.first(8)); });
  loader.load(1, matrix_data.first(12));
  check_error(ErrorCode::invalid_safetensors, "expected 12 bytes, or rows of 12, got 24",
              [&] { loader.load(1, matrix_data); });
  check_error(ErrorCode::missing_tensor,
              "encoder.layers.0.weight: expected 24 bytes of data, got 12",
              [&] { loader.finish(); });
  loader.load(1, matrix_data.subspan(12));
  CHECK(values.at("encoder.layers.0.weight") == matrix);
  check_error(ErrorCode::internal, "encoder.layers.0.weight: loaded twice",
              [&] { loader.load(1, matrix_data.first(12)); });
}

TEST_CASE("a large tensor is loaded in pieces of a megabyte", "[io]") {
  constexpr std::size_t rows = 1000, columns = 768;
  std::vector<float> numbers(rows * columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1013);
  const NamedTensor table = f32("weight", {rows, columns}, numbers);
  const std::vector<std::byte> bytes = write_safetensors(std::span(&table, 1));
  const SafetensorsFile file = SafetensorsFile::parse(bytes);
  std::vector<float> got(numbers.size());
  std::vector<NamedParameter> parameters;
  ParameterScope(parameters)
      .declare("weight", {rows, columns}, [&](std::span<const float> values, std::size_t first) {
        std::ranges::copy(values, got.begin() + static_cast<std::ptrdiff_t>(first * columns));
      });
  WeightsLoader loader(file.header(), parameters);
  const std::size_t row = columns * sizeof(float);
  CHECK(loader.piece_bytes(0) == (1 << 20) / row * row);
  CHECK(loader.staging_bytes() == loader.piece_bytes(0));
  const auto data = file.bytes(loader.tensor(0));
  const std::size_t peak = test::peak_of([&] {
    for (std::size_t at = 0; at < data.size(); at += loader.piece_bytes(0)) {
      loader.load(0, data.subspan(at, std::min(loader.piece_bytes(0), data.size() - at)));
    }
  });
  loader.finish();
  CHECK(got == numbers);
  CHECK(peak < (1 << 20) + 1000);

  // The reported index counts through the whole tensor.
  numbers[999 * columns + 5] = std::numeric_limits<float>::infinity();
  const NamedTensor wrong = f32("weight", {rows, columns}, numbers);
  const std::vector<std::byte> other = write_safetensors(std::span(&wrong, 1));
  const SafetensorsFile infinite = SafetensorsFile::parse(other);
  WeightsLoader again(infinite.header(), parameters);
  again.load(0, infinite.bytes(again.tensor(0)).first(999 * row));
  check_error(ErrorCode::invalid_weights, "got Infinity at element 767237",
              [&] { again.load(0, infinite.bytes(again.tensor(0)).subspan(999 * row)); });
}

TEST_CASE("a parameter declared twice is an internal error", "[io]") {
  Values values;
  std::vector<NamedParameter> parameters = parameters_of(values);
  parameters.push_back(parameters[0]);
  const std::vector<std::byte> bytes = write_safetensors(complete());
  check_error(ErrorCode::internal, "encoder.layers.0.weight: declared twice",
              [&] { WeightsLoader(SafetensorsFile::parse(bytes).header(), parameters); });
}

}  // namespace
}  // namespace glassformer
