// Picture files, compared with what the library transformers reads of them with Pillow.

#include "image/decode/decode.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "image/decode/orientation.hpp"
#include "support/error_of.hpp"
#include "support/picture_files.hpp"

namespace glassformer::test {

TEST_CASE("picture files give Pillow's bytes", "[image]") {
  const nlohmann::json expected = read_json(pictures_folder / "decoded.json");
  REQUIRE(expected.size() >= 50);
  for (const auto& [name, of] : expected.items()) {
    INFO(name);
    const Picture picture = decode_picture(picture_file(name));
    CHECK(picture.channels == 3);
    CHECK(picture.width == of[0]);
    CHECK(picture.height == of[1]);
    CHECK(hash_of(picture.bytes) == of[2].get<std::string>());
  }
}

TEST_CASE("a truncated or damaged picture file is refused, wherever it ends", "[image]") {
  const nlohmann::json expected = read_json(pictures_folder / "decoded.json");
  for (const auto& [name, of] : expected.items()) {
    INFO(name);
    const std::vector<std::uint8_t> file = picture_file(name);
    for (std::size_t size = 0; size < file.size(); size += 1 + file.size() / 40) {
      INFO(size);
      const std::vector<std::uint8_t> part(file.begin(),
                                           file.begin() + static_cast<std::ptrdiff_t>(size));
      // A PNG file whose pixels are complete may lack its end, and so may a WebP file.
      try {
        decode_picture(part);
        CHECK(size > file.size() / 3);
      } catch (const Error& error) {
        const ErrorCode code = size == 0   ? ErrorCode::empty_input
                               : size < 12 ? error.code()  // the format is not known yet
                                           : ErrorCode::invalid_picture;
        CHECK(error.code() == code);
      }
    }
  }
}

TEST_CASE("a picture of too many pixels is refused by its header", "[image]") {
  // Sets the width and height of a PNG file and corrects the check sum, which covers the header.
  std::vector<std::uint8_t> png = picture_file("rgb8.png");
  const auto crc_of = [](std::span<const std::uint8_t> bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const std::uint8_t byte : bytes) {
      crc ^= byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
  };
  const auto put = [](std::vector<std::uint8_t>& file, std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) {
      file[at + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    }
  };
  for (const std::uint32_t size : {60000u, 2000000000u}) {
    put(png, 16, size);
    put(png, 20, size);
    put(png, 29, crc_of(std::span(png).subspan(12, 17)));
    CHECK(error_of([&] { decode_picture(png); }).code() == ErrorCode::too_large);
  }

  std::vector<std::uint8_t> jpeg = picture_file("jpeg_444.jpg");
  const std::array<std::uint8_t, 2> frame = {0xff, 0xc0};
  const auto start = std::ranges::search(jpeg, frame).begin();
  for (std::ptrdiff_t i = 5; i < 9; ++i) start[i] = 0xea;  // 60138 x 60138
  CHECK(error_of([&] { decode_picture(jpeg); }).code() == ErrorCode::too_large);

  std::vector<std::uint8_t> webp = picture_file("webp_animated.webp");
  for (std::size_t i = 24; i < 30; ++i) webp[i] = 0x80;  // the size of the canvas
  const ErrorCode code = error_of([&] { decode_picture(webp); }).code();
  CHECK((code == ErrorCode::too_large || code == ErrorCode::invalid_picture));
}

TEST_CASE("files that are no pictures are refused", "[image]") {
  const auto code_of = [](std::string_view text) {
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    return error_of([&] { decode_picture(bytes); }).code();
  };
  CHECK(code_of("") == ErrorCode::empty_input);
  CHECK(code_of("GIF89a") == ErrorCode::unsupported);
  CHECK(code_of("RIFF....WAVE") == ErrorCode::unsupported);
  CHECK(code_of("\x89PNG\r\n\x1A\n") == ErrorCode::invalid_picture);
  CHECK(code_of("\xFF\xD8\xFF") == ErrorCode::invalid_picture);
  CHECK(code_of("RIFF....WEBP") == ErrorCode::invalid_picture);
}

TEST_CASE("every orientation becomes upright, and broken ones count as none", "[image]") {
  //  1 2 3
  //  4 5 6
  const Picture picture = {3, 2, 1, {1, 2, 3, 4, 5, 6}};
  const std::vector<std::vector<std::uint8_t>> expected = {
      {1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
      {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    INFO(orientation);
    const Picture result = upright(picture, orientation);
    CHECK(result.width == (orientation < 5 ? 3 : 2));
    CHECK(result.bytes == expected[static_cast<std::size_t>(orientation) - 1]);
  }
  const auto of_text = [](std::string_view text) {
    return std::vector<std::uint8_t>(text.begin(), text.end());
  };
  CHECK(orientation_of({}, {}) == 1);
  CHECK(orientation_of(of_text("II*\0\xff\xff\xff\xff"), {}) == 1);
  CHECK(orientation_of({}, of_text("tiff:Orientation tiff:Orientation=\"7\"")) == 7);
  CHECK(orientation_of({}, of_text("<tiff:Orientation>9")) == 1);
  CHECK(orientation_of({}, of_text("tiff:Orientation>")) == 1);
}

}  // namespace glassformer::test
