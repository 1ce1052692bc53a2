#include "image/decode/orientation.hpp"

#include <algorithm>
#include <utility>

namespace glassformer {
namespace {

constexpr unsigned orientation_tag = 0x0112, short_type = 3;

// Reads whole numbers of a TIFF structure. Those beyond the end are 0.
class Tiff {
 public:
  explicit Tiff(FileBytes bytes) : bytes_(bytes) { little_ = text_of(bytes).starts_with("II"); }

  std::size_t number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return 0;
    std::size_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      number = number << 8 | bytes_[at + (little_ ? size - 1 - i : i)];
    }
    return number;
  }

 private:
  FileBytes bytes_;
  bool little_;
};

int in_exif(FileBytes exif) {
  if (!text_of(exif).starts_with("II") && !text_of(exif).starts_with("MM")) return 0;
  const Tiff tiff(exif);
  if (tiff.number(2, 2) != 42) return 0;
  const std::size_t directory = tiff.number(4, 4);
  const std::size_t entries = tiff.number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (tiff.number(entry, 2) != orientation_tag) continue;
    return tiff.number(entry + 2, 2) == short_type ? static_cast<int>(tiff.number(entry + 8, 2))
                                                   : 0;
  }
  return 0;
}

// tiff:Orientation="6" or <tiff:Orientation>6</…>.
int in_xmp(FileBytes xmp) {
  constexpr std::string_view name = "tiff:Orientation";
  std::string_view text = text_of(xmp);
  for (std::size_t at; (at = text.find(name)) != std::string_view::npos;) {
    text.remove_prefix(at + name.size());
    std::string_view value = text;
    if (value.starts_with("=\"")) {
      value.remove_prefix(2);
    } else if (value.starts_with('>')) {
      value.remove_prefix(1);
    } else {
      continue;
    }
    if (!value.empty() && value[0] >= '0' && value[0] <= '9') return value[0] - '0';
  }
  return 0;
}

}  // namespace

int orientation_of(FileBytes exif, FileBytes xmp) {
  int orientation = in_exif(exif);
  if (orientation == 0) orientation = in_xmp(xmp);
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

Picture upright(Picture picture, int orientation) {
  if (orientation == 1) return picture;
  // Orientations 5 to 8 exchange rows and columns.
  const bool turned = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Picture result = {picture.width, picture.height, picture.channels, {}};
  if (turned) std::swap(result.width, result.height);
  result.bytes.resize(picture.bytes.size());
  std::uint8_t* to = result.bytes.data();
  for (std::size_t y = 0; y < result.height; ++y) {
    for (std::size_t x = 0; x < result.width; ++x) {
      std::size_t from_x = turned ? y : x, from_y = turned ? x : y;
      if (from_right) from_x = picture.width - 1 - from_x;
      if (from_bottom) from_y = picture.height - 1 - from_y;
      const std::size_t at = (from_y * picture.width + from_x) * picture.channels;
      to = std::copy_n(&picture.bytes[at], picture.channels, to);
    }
  }
  return result;
}

}  // namespace glassformer
