#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "image/checks.hpp"
#include "image/decode/formats.hpp"

namespace glassformer {
namespace {

// libpng reports an error by a jump, past the destructors of C++. So everything that must be
// destroyed belongs to this object, which exists before the jump's target.
class PngReader {
 public:
  explicit PngReader(FileBytes file) : rest_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, auto) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) throw_error(ErrorCode::too_large, "picture: not enough memory");
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  DecodedFile read() {
    if (setjmp(png_jmpbuf(png_)) != 0) {
      if (std::strcmp(problem_, "Out of memory") == 0) {
        throw_error(ErrorCode::too_large, "picture: not enough memory");
      }
      throw_error(ErrorCode::invalid_picture, {"picture: broken PNG file: {}", {problem_}});
    }
    read_header();
    allocate();
    read_pixels();
    read_metadata();
    return std::move(decoded_);
  }

 private:
  static PngReader& of(png_structp png) { return *static_cast<PngReader*>(png_get_io_ptr(png)); }

  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader.problem_, message, sizeof reader.problem_ - 1);
    png_longjmp(png, 1);
  }

  static void take(png_structp png, png_bytep to, std::size_t size) {
    PngReader& reader = of(png);
    if (size > reader.rest_.size()) png_error(png, "the file is truncated");
    std::memcpy(to, reader.rest_.data(), size);
    reader.rest_ = reader.rest_.subspan(size);
  }

  void read_header() {
    png_set_read_fn(png_, this, take);
    png_set_chunk_malloc_max(png_, 8 << 20);
    png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
    // A size over the limit is not a broken file, so libpng must not report it.
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png_, info_);
    width_ = png_get_image_width(png_, info_);
    height_ = png_get_image_height(png_, info_);
    expect_picture_size(width_, height_);  // before libpng takes memory for a row
    const int depth = png_get_bit_depth(png_, info_), type = png_get_color_type(png_, info_);
    gray16_ = depth == 16 && type == PNG_COLOR_TYPE_GRAY;
    palette_ = type == PNG_COLOR_TYPE_PALETTE;
    if (palette_) {
      png_set_packing(png_);
    } else if (depth < 8) {
      png_set_expand_gray_1_2_4_to_8(png_);
    }
    if (depth == 16 && !gray16_) png_set_strip_16(png_);
    if ((type & PNG_COLOR_MASK_ALPHA) != 0) png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    row_bytes_ = png_get_rowbytes(png_, info_);
    channels_ = png_get_channels(png_, info_);
  }

  void allocate() {
    bytes_.resize(row_bytes_ * height_);
    for (std::size_t y = 0; y < height_; ++y) rows_.push_back(&bytes_[y * row_bytes_]);
    decoded_.picture = {width_, height_, 3, std::vector<std::uint8_t>(width_ * height_ * 3)};
  }

  void read_pixels() {
    png_read_image(png_, rows_.data());
    png_read_end(png_, info_);
    png_colorp colors = nullptr;
    int count = 0;
    if (palette_) png_get_PLTE(png_, info_, &colors, &count);
    std::uint8_t* to = decoded_.picture.bytes.data();
    const std::uint8_t* from = bytes_.data();
    for (std::size_t i = 0; i < width_ * height_; ++i) {
      if (palette_) {
        const int index = *from++;
        // Colors beyond the palette are black, as in Pillow.
        const png_color color = index < count ? colors[index] : png_color{};
        *to++ = color.red;
        *to++ = color.green;
        *to++ = color.blue;
      } else if (gray16_) {
        const std::uint8_t gray = from[0] == 0 ? from[1] : 255;
        to = std::fill_n(to, 3, gray);
        from += 2;
      } else if (channels_ == 1) {
        to = std::fill_n(to, 3, *from++);
      } else {
        to = std::copy_n(from, 3, to);
        from += channels_;
      }
    }
  }

  void read_metadata() {
    png_bytep exif = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(png_, info_, &size, &exif) != 0) decoded_.exif.assign(exif, exif + size);
    png_textp texts = nullptr;
    int count = 0;
    png_get_text(png_, info_, &texts, &count);
    for (int i = 0; i < count; ++i) {
      if (std::strcmp(texts[i].key, "XML:com.adobe.xmp") != 0) continue;
      const char* text = texts[i].text;
      decoded_.xmp.assign(text, text + std::strlen(text));
    }
  }

  FileBytes rest_;
  char problem_[200] = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::size_t width_ = 0, height_ = 0, row_bytes_ = 0, channels_ = 0;
  bool palette_ = false, gray16_ = false;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t*> rows_;
  DecodedFile decoded_;
};

}  // namespace

DecodedFile decode_png(FileBytes file) { return PngReader(file).read(); }

}  // namespace glassformer
