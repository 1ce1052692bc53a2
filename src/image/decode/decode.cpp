#include "image/decode/decode.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "image/decode/formats.hpp"
#include "image/decode/orientation.hpp"

namespace glassformer {
namespace {

DecodedFile decode(FileBytes file) {
  const std::string_view start = text_of(file.first(std::min<std::size_t>(file.size(), 12)));
  if (start.starts_with("\x89PNG\r\n\x1A\n")) return decode_png(file);
  if (start.starts_with("\xFF\xD8\xFF")) return decode_jpeg(file);
  if (start.starts_with("RIFF") && start.ends_with("WEBP")) return decode_webp(file);
  throw_error(ErrorCode::unsupported,
              "picture: expected a PNG, JPEG or WebP file, got something else");
}

}  // namespace

Picture decode_picture(FileBytes file) {
  if (file.empty()) throw_error(ErrorCode::empty_input, "picture: expected a file, got no bytes");
  if (file.size() > max_picture_bytes) {
    throw_error(ErrorCode::too_large, {"picture: expected a file of at most {} bytes, got {}",
                                       {max_picture_bytes, file.size()}});
  }
  DecodedFile decoded = decode(file);
  const int orientation = orientation_of(decoded.exif, decoded.xmp);
  return upright(std::move(decoded.picture), orientation);
}

}  // namespace glassformer
