#include "weights/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.hpp"
#include "support/io_fixture.hpp"
#include "weights/floats.hpp"

namespace glassformer {
namespace {

using test::bytes_of;
using test::check_error;

void check_refused(std::string_view json, std::uint64_t data_size, std::string_view message,
                   ErrorCode code = ErrorCode::invalid_safetensors) {
  INFO(json.substr(0, 200));
  check_error(code, message, [&] { SafetensorsHeader::parse(json, data_size); });
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string file_of(std::uint64_t header_size, const std::string& rest) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &header_size, sizeof header_size);
  return file + rest;
}

TEST_CASE("a header is read in file order", "[io]") {
  const std::string json =
      "{" + tensor("b", "F16", "[3]", "[8,14]") + "," + tensor("a", "F32", "[2,1]", "[0,8]") + "," +
      tensor("scalar", "BF16", "[]", "[14,16]") + "," +
      tensor("empty", "F32", "[4,0,2]", "[14,14]") + "," + tensor("last", "I8", "[2]", "[16,18]") +
      R"(,"__metadata__":{"format":"pt","note":""}}   )";
  const SafetensorsHeader header = SafetensorsHeader::parse(json, 18);
  std::vector<std::string> names;
  for (const TensorInfo& info : header.tensors()) names.push_back(info.name);
  CHECK(names == std::vector<std::string>{"a", "b", "empty", "scalar", "last"});
  CHECK(header.tensors()[0].shape == std::vector<std::size_t>{2, 1});
  CHECK(header.tensors()[1].dtype == DType::f16);
  CHECK(header.tensors()[1].begin == 8);
  CHECK(header.tensors()[1].end == 14);
  CHECK(header.tensors()[3].shape.empty());
  CHECK(SafetensorsHeader::parse("{}", 0).tensors().empty());
}

TEST_CASE("a header is one object from its first byte, padded with spaces", "[io]") {
  for (const char* json : {"", " ", " {}", "\n{}", "[]", "{}\n", "{}\t ", "null", "{} x"}) {
    check_refused(json, 0, "header: expected a JSON object from the first byte");
  }
  check_refused(std::string_view("{}\0", 3), 0, "expected a JSON object");
  check_refused("{} }", 0, "not valid JSON");
  check_refused("{\"a\":}", 0, "not valid JSON");
  check_refused("{\"\xff\":{}}", 0, "not valid JSON");
  check_refused(
      "{" + tensor("a", "F32", "[0]", "[0,0]") + "," + tensor("a", "F32", "[0]", "[0,0]") + "}", 0,
      "\"a\" appears twice");
  check_refused(R"({"a":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0,
                "\"a\": \"dtype\" appears twice");
}

TEST_CASE("metadata maps strings to strings", "[io]") {
  check_refused(R"({"__metadata__":{"a":1}})", 0, "__metadata__: a: expected a string, got 1");
  check_refused(R"({"__metadata__":{"a":{}}})", 0, "__metadata__: a: expected a string");
  check_refused(R"({"__metadata__":"pt"})", 0, "__metadata__: expected an object, got \"pt\"");
  check_refused(R"({"__metadata__":{"a":"1","a":"2"}})", 0, "\"a\" appears twice");
}

TEST_CASE("a tensor has exactly its three fields, of the right types", "[io]") {
  check_refused(R"({"a":[]})", 0, "model.safetensors: a: expected an object, got []");
  check_refused(R"({"a":{"shape":[0],"data_offsets":[0,0]}})", 0, "a: dtype: missing");
  check_refused(R"({"a":{"dtype":"F32","data_offsets":[0,0]}})", 0, "a: shape: missing");
  check_refused(R"({"a":{"dtype":"F32","shape":[0]}})", 0, "a: data_offsets: missing");
  check_refused(R"({"a":{"dtype":1,"shape":[0],"data_offsets":[0,0]}})", 0,
                "a: dtype: expected a string, got 1");
  check_refused(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"order":"C"}})", 0,
                "a: \"order\": unknown field");
  for (const char* shape : {"4", "[\"4\"]", "[-1]", "[1.0]", "[[1]]", "[null]", "[1e2]"}) {
    check_refused("{" + tensor("a", "F32", shape, "[0,4]") + "}", 4,
                  "a: shape: expected an array of whole numbers");
  }
  for (const char* offsets :
       {"4", "[4]", "[0,4,8]", "[0,\"4\"]", "[0,4.0]", "[-1,4]", "[null,4]"}) {
    check_refused("{" + tensor("a", "F32", "[1]", offsets) + "}", 4,
                  "a: data_offsets: expected two whole numbers");
  }
}

TEST_CASE("element types used by neither weights nor buffers are unsupported", "[io]") {
  for (const char* dtype : {"F4", "F6_E2M3", "f32", "X", ""}) {
    check_refused("{" + tensor("a.weight", dtype, "[0]", "[0,0]") + "}", 0,
                  "model.safetensors: a.weight: dtype: expected F32, F16, BF16 or I8, got \"" +
                      std::string(dtype) + "\"",
                  ErrorCode::unsupported_dtype);
  }
}

TEST_CASE("a file that is not safetensors is refused with a hint at its format", "[io]") {
  const auto refused = [](std::string_view start, std::string_view message) {
    std::array<char, 8> prefix{};
    std::copy_n(start.begin(), 8, prefix.begin());
    check_error(ErrorCode::invalid_safetensors, message,
                [&] { safetensors_header_size(std::as_bytes(std::span(prefix))); });
  };
  refused("version https://git-lfs.github.com/spec/v1", "git lfs pull");
  refused("<!DOCTYPE html>", "web page");
  refused(std::string_view("\x1F\x8B\x08\0\0\0\0\0", 8), "gunzip");
}

TEST_CASE("offsets must fit the shape, type and file", "[io]") {
  const auto one = [](const char* shape, const char* offsets) {
    return "{" + tensor("a", "F32", shape, offsets) + "}";
  };
  check_refused(one("[1]", "[8,4]"), 8,
                "a: data_offsets: expected a begin that is not after the end");
  check_refused(one("[2]", "[0,4]"), 4, "a: data_offsets: expected 8 bytes for F32 [2], got [0,4]");
  check_refused(one("[1]", "[0,8]"), 8, "expected 4 bytes for F32 [1]");
  check_refused(one("[]", "[0,0]"), 0, "expected 4 bytes for F32 []");
  check_refused(one("[2]", "[0,8]"), 7, "expected an end within the 7 bytes of data");
  check_refused(one("[2]", "[0,8]"), 0, "expected an end within the 0 bytes of data");
  check_refused(one("[18446744073709551615]", "[0,4]"), 4, "an impossible number of bytes");
  check_refused(one("[4294967296,4294967296]", "[0,0]"), 0, "without overflow");
  check_refused(one("[9223372036854775808,2]", "[0,0]"), 0, "without overflow");
  check_refused(one("[18446744073709551616]", "[0,0]"), 0, "an array of whole numbers");
  check_refused(one("[1]", "[18446744073709551612,18446744073709551615]"), 4, "an end within");
  CHECK_NOTHROW(SafetensorsHeader::parse(one("[0,18446744073709551615]", "[0,0]"), 0));
}

TEST_CASE("tensors must cover the data without gaps or overlaps", "[io]") {
  const auto two = [](const char* first, const char* second) {
    return "{" + tensor("a", "F32", "[1]", first) + "," + tensor("b", "F32", "[1]", second) + "}";
  };
  CHECK_NOTHROW(SafetensorsHeader::parse(two("[4,8]", "[0,4]"), 8));
  check_refused(two("[0,4]", "[8,12]"), 12, "b: data_offsets: expected a begin of 4");  // gap
  check_refused(two("[4,8]", "[8,12]"), 12, "a: data_offsets: expected a begin of 0");
  check_refused(two("[0,4]", "[2,6]"), 6, "b: data_offsets: expected a begin of 4");  // overlap
  check_refused(two("[0,4]", "[0,4]"), 4, "data_offsets: expected a begin of 4");
  check_refused(two("[0,4]", "[4,8]"), 9, "expected 8 bytes of data, got 9");
  check_refused("{}", 1, "expected 0 bytes of data, got 1");

  // If the file's size is unknown, the last tensor's end gives it.
  const auto parse = [](const std::string& json) {
    return SafetensorsHeader::parse(json, std::nullopt);
  };
  CHECK(parse(two("[4,8]", "[0,4]")).tensors().back().end == 8);
  CHECK_THROWS_AS(parse(two("[0,4]", "[8,12]")), Error);
}

TEST_CASE("a file's first eight bytes give the header's length", "[io]") {
  const auto refused = [](const std::string& file, std::string_view message) {
    check_error(ErrorCode::invalid_safetensors, message,
                [&] { SafetensorsFile::parse(bytes_of(file)); });
  };
  refused("", "expected at least 8 bytes, got 0");
  refused("1234567", "expected at least 8 bytes, got 7");
  refused(file_of(100'000'001, "{}"), "header: expected at most 100000000 bytes, got 100000001");
  refused(file_of(~std::uint64_t{0}, "{}"), "header: expected at most 100000000 bytes");
  refused(file_of(3, "{}"), "header: expected 3 bytes, got 2 up to the end of the file");
  refused(file_of(0, ""), "expected a JSON object");
  refused(file_of(2, "{}x"), "expected 0 bytes of data, got 1");
  CHECK(SafetensorsFile::parse(bytes_of(file_of(2, "{}"))).header().tensors().empty());

  const std::string limit = file_of(header_limit.max_bytes, "");
  CHECK(safetensors_header_size(bytes_of(limit).first<8>()) == header_limit.max_bytes);
}

TEST_CASE("a truncated file is refused at every length", "[io]") {
  const std::vector<float> values{1, 2, 3};
  const NamedTensor named{"a", DType::f32, {3}, bytes_of(values)};
  const std::vector<std::byte> file = write_safetensors({&named, 1});
  CHECK_NOTHROW(SafetensorsFile::parse(file));
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK_THROWS_AS(SafetensorsFile::parse(std::span(file).first(size)), Error);
  }
}

TEST_CASE("written files are aligned, in a fixed order, and read back the same", "[io]") {
  const std::vector<float> floats{1.5f, -2.5f, 3.25f, 0, 5, 6};
  const std::vector<std::uint16_t> halves{0x3C00};
  const std::vector<std::int8_t> ints{1, -2, 3};
  const std::vector<NamedTensor> tensors{{"z.weight", DType::i8, {3}, bytes_of(ints)},
                                         {"b", DType::f16, {}, bytes_of(halves)},
                                         {"c", DType::f32, {2, 3}, bytes_of(floats)},
                                         {"a", DType::f32, {0}, {}}};
  const std::vector<std::byte> bytes = write_safetensors(tensors);
  const SafetensorsFile file = SafetensorsFile::parse(bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CHECK(text.substr(8).starts_with("{\"__metadata__\":{\"format\":\"pt\"},"));
  std::vector<std::string> names;
  for (const TensorInfo& info : file.header().tensors()) {
    names.push_back(info.name);
    const auto offset = static_cast<std::size_t>(file.bytes(info).data() - bytes.data());
    CHECK(offset % size_of(info.dtype) == 0);
  }
  CHECK(names == std::vector<std::string>{"a", "c", "b", "z.weight"});
  std::vector<float> read(6);
  to_f32(DType::f32, file.bytes(file.header().tensors()[1]), read);
  CHECK(read == floats);

  const std::vector<NamedTensor> reversed(tensors.rbegin(), tensors.rend());
  CHECK(write_safetensors(reversed) == bytes);

  const std::vector<NamedTensor> twice{tensors[2], tensors[2]};
  check_error(ErrorCode::internal, "c: expected once", [&] { write_safetensors(twice); });
  const NamedTensor wrong{"c", DType::f32, {2}, bytes_of(floats)};
  check_error(ErrorCode::internal, "8 bytes, got 24", [&] { write_safetensors({&wrong, 1}); });
}

// IEEE 754 binary16 by its definition: (-1)^s 2^(e-15) (1 + f/1024), subnormal 2^-14 f/1024.
float half_by_definition(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = half & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction ? std::numeric_limits<float>::quiet_NaN()
                    : sign * std::numeric_limits<float>::infinity();
  }
  const int significand = exponent == 0 ? fraction : fraction + 1024;
  return sign * std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - 25);
}

TEST_CASE("every F16, BF16 and I8 value is converted to its float, from any alignment", "[io]") {
  std::vector<std::byte> bytes(1 + 2 * 65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto value = static_cast<std::uint16_t>(i);
    std::memcpy(&bytes[1 + 2 * i], &value, sizeof value);
  }
  const auto unaligned = std::span(bytes).subspan(1);
  std::vector<float> halves(65536);
  std::vector<float> bfloats(65536);
  to_f32(DType::f16, unaligned, halves);
  to_f32(DType::bf16, unaligned, bfloats);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const float expected = half_by_definition(static_cast<std::uint16_t>(i));
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(halves[i]));
    } else {
      REQUIRE(std::bit_cast<std::uint32_t>(halves[i]) == std::bit_cast<std::uint32_t>(expected));
    }
    REQUIRE(std::bit_cast<std::uint32_t>(bfloats[i]) == i << 16);
  }

  std::vector<float> ints(256);
  std::vector<std::byte> every;
  for (int i = -128; i < 128; ++i) every.push_back(static_cast<std::byte>(i));
  to_f32(DType::i8, every, ints);
  for (std::size_t i = 0; i < 256; ++i) CHECK(ints[i] == static_cast<float>(i) - 128);

  const std::vector<float> special{std::numeric_limits<float>::quiet_NaN(),
                                   -std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::denorm_min(), -0.0f};
  std::vector<std::byte> shifted(1);
  const auto stored = bytes_of(special);
  shifted.insert(shifted.end(), stored.begin(), stored.end());
  std::vector<float> back(special.size());
  to_f32(DType::f32, std::span(shifted).subspan(1), back);
  CHECK(std::memcmp(back.data(), special.data(), stored.size()) == 0);

  check_error(ErrorCode::internal, "expected 8 bytes, got 3",
              [&] { to_f32(DType::f32, std::span(shifted).first(3), std::span(back).first(2)); });
}

}  // namespace
}  // namespace glassformer
