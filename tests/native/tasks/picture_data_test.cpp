// Files of labelled pictures.

#include "tasks/train/picture_data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "support/error_of.hpp"

namespace glassformer::test {
namespace {

std::string idx(const std::vector<std::uint32_t>& sizes, const std::string& bytes,
                const std::string& magic = std::string("\0\0\x08", 3)) {
  std::string file = magic + static_cast<char>(sizes.size());
  for (const std::uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(size >> shift & 255);
  }
  return file + bytes;
}

const std::string pictures = idx({3, 1, 2}, "abcdef");

}  // namespace

TEST_CASE("pictures and their labels, as bytes or as lines", "[tasks]") {
  const std::string bytes = pictures + idx({3}, {"\x0a\x02\x0a", 3});
  const PictureData data = read_pictures(bytes);
  CHECK(data.height == 1);
  CHECK(data.width == 2);
  CHECK(data.channels == 1);
  CHECK(names_of(count_labels(data)) == std::vector<std::string>{"2", "10"});
  REQUIRE(data.items.size() == 3);
  CHECK(data.items[1].label == "2");
  CHECK(data.items[1].bytes[0] == 'c');

  const std::string lines = pictures + "cat\ndog\r\ncat\n";
  const PictureData named = read_pictures(lines);
  CHECK(names_of(count_labels(named)) == std::vector<std::string>{"cat", "dog"});
  CHECK(named.items[2].label == "cat");

  const std::string colors = idx({2, 1, 1, 3}, "rgbRGB") + "a\nb";
  CHECK(read_pictures(colors).channels == 3);
}

TEST_CASE("files that are no pictures with labels are refused", "[tasks]") {
  const auto refuses = [](const std::string& file, const std::string& words) {
    const Error got = error_of([&] { count_labels(read_pictures(file)); });
    INFO(file);
    CHECK(got.code() == ErrorCode::invalid_data);
    CHECK(std::string(got.what()).find(words) != std::string::npos);
  };
  refuses("", "expected an IDX file of bytes");
  refuses("positive\tA film.", "expected an IDX file of bytes");
  refuses(idx({3, 1, 2}, "abcdef", std::string("\0\0\x0d", 3)), "expected an IDX file of bytes");
  refuses(pictures.substr(0, 9), "expected an IDX file of bytes");
  refuses(idx({3}, "abc"), "expected an IDX file of bytes");
  refuses(idx({2, 1, 1, 2}, "rgRG") + "a\nb", "1 or 3 channels");
  refuses(idx({0, 1, 2}, ""), "got 0 of");
  refuses(idx({3, 1, 5000}, ""), "1024 x 1024");
  refuses(idx({0xffffffff, 1024, 1024}, ""), "got 4294967295 of");
  refuses(idx({3, 1, 2}, "abcde"), "expected 3 of 2 bytes, got 5 bytes");
  refuses(pictures, "expected 3 as there are pictures, got none");
  refuses(pictures + "a\nb\n", "expected 3 as there are pictures, got 2");
  refuses(pictures + idx({2}, "ab"), "expected 3 as there are pictures, got 2");
  refuses(pictures + idx({3}, "ab"), "got 3 in 2 bytes");
  refuses(pictures + idx({3, 1}, "abc"), "expected an IDX file with 1 dimension, got 2");
  refuses(pictures + "a\na\na\n", "at least two labels, got only a");
}

}  // namespace glassformer::test
