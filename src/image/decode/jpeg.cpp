#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two above.
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "image/checks.hpp"
#include "image/decode/formats.hpp"

namespace glassformer {
namespace {

// libjpeg reports an error by a jump, past the destructors of C++. So everything that must be
// destroyed belongs to this object, which exists before the jump's target.
class JpegReader {
 public:
  explicit JpegReader(FileBytes file) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = fail;
    errors_.emit_message = [](j_common_ptr, int) {};  // what Pillow accepts, too
    source_.next_input_byte = file.data();
    source_.bytes_in_buffer = file.size();
    source_.init_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = refuse_end;
    source_.skip_input_data = skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = [](j_decompress_ptr) {};
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }

  DecodedFile read() {
    if (setjmp(jump_) != 0) {
      throw_error(ErrorCode::invalid_picture, {"picture: broken JPEG file: {}", {problem_}});
    }
    read_header();
    expect_picture_size(jpeg_.image_width, jpeg_.image_height);
    allocate();
    read_metadata();
    read_pixels();
    return std::move(decoded_);
  }

 private:
  static JpegReader& of(void* client_data) { return *static_cast<JpegReader*>(client_data); }

  [[noreturn]] static void fail(j_common_ptr jpeg) {
    JpegReader& reader = of(jpeg->client_data);
    jpeg->err->format_message(jpeg, reader.problem_);
    std::longjmp(reader.jump_, 1);
  }
  [[noreturn]] static void fail(j_decompress_ptr jpeg, const char* problem) {
    JpegReader& reader = of(jpeg->client_data);
    std::strncpy(reader.problem_, problem, sizeof reader.problem_ - 1);
    std::longjmp(reader.jump_, 1);
  }
  static boolean refuse_end(j_decompress_ptr jpeg) { fail(jpeg, "the file is truncated"); }
  static void skip(j_decompress_ptr jpeg, long bytes) {
    if (bytes <= 0) return;
    const auto count = static_cast<std::size_t>(bytes);
    if (count > jpeg->src->bytes_in_buffer) fail(jpeg, "the file is truncated");
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= count;
  }

  void read_header() {
    jpeg_create_decompress(&jpeg_);
    jpeg_.src = &source_;
    progress_.progress_monitor = count_scans;
    jpeg_.progress = &progress_;
    // The library's own buffers, such as those of a progressive picture.
    jpeg_.mem->max_memory_to_use = 1L << 30;
    jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&jpeg_, TRUE);
    // Inks are converted below, as Pillow does.
    jpeg_.out_color_space = jpeg_.num_components == 4   ? JCS_CMYK
                            : jpeg_.num_components == 1 ? JCS_GRAYSCALE
                                                        : JCS_RGB;
  }

  void allocate() {
    const std::size_t width = jpeg_.image_width, height = jpeg_.image_height;
    row_.resize(width * 4);
    decoded_.picture = {width, height, 3, std::vector<std::uint8_t>(width * height * 3)};
  }

  void read_pixels() {
    jpeg_start_decompress(&jpeg_);
    std::uint8_t* to = decoded_.picture.bytes.data();
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = row_.data();
      jpeg_read_scanlines(&jpeg_, &row, 1);
      const std::uint8_t* from = row_.data();
      for (std::size_t x = 0; x < jpeg_.output_width; ++x, from += jpeg_.output_components) {
        if (jpeg_.output_components == 1) {
          to = std::fill_n(to, 3, *from);
        } else if (jpeg_.output_components == 3) {
          to = std::copy_n(from, 3, to);
        } else {
          to = put_inks(from, to);
        }
      }
    }
    jpeg_finish_decompress(&jpeg_);
  }

  // Files of four inks have them inverted, which is Adobe's convention.
  static std::uint8_t* put_inks(const std::uint8_t* inverted, std::uint8_t* to) {
    const int black = inverted[3];  // 255 without black
    for (int c = 0; c < 3; ++c) {
      const int product = black * (255 - inverted[c]) + 128;
      const int ink = ((product >> 8) + product) >> 8;  // product / 255, rounded
      *to++ = static_cast<std::uint8_t>(std::clamp(black - ink, 0, 255));
    }
    return to;
  }

  void read_metadata() {
    constexpr std::string_view exif("Exif\0\0", 6), xmp("http://ns.adobe.com/xap/1.0/\0", 29);
    for (const jpeg_marker_struct* marker = jpeg_.marker_list; marker; marker = marker->next) {
      const FileBytes data(marker->data, marker->data_length);
      const auto take = [&](std::string_view name, std::vector<std::uint8_t>& to) {
        if (!text_of(data).starts_with(name) || !to.empty()) return;
        const FileBytes rest = data.subspan(name.size());
        to.assign(rest.begin(), rest.end());
      };
      take(exif, decoded_.exif);
      take(xmp, decoded_.xmp);
    }
  }

  // Refuses a file that makes the library read the picture again and again.
  static void count_scans(j_common_ptr jpeg) {
    constexpr int most_scans = 100;
    auto* const decoder = reinterpret_cast<j_decompress_ptr>(jpeg);
    if (decoder->input_scan_number > most_scans) fail(decoder, "it has too many scans");
  }

  jpeg_decompress_struct jpeg_ = {};
  jpeg_progress_mgr progress_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  std::jmp_buf jump_ = {};
  char problem_[JMSG_LENGTH_MAX] = {};
  std::vector<std::uint8_t> row_;
  DecodedFile decoded_;
};

}  // namespace

DecodedFile decode_jpeg(FileBytes file) { return JpegReader(file).read(); }

}  // namespace glassformer
