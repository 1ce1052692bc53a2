#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "image/checks.hpp"
#include "image/decode/formats.hpp"

namespace glassformer {
namespace {

[[noreturn]] void refuse(const char* problem) {
  throw_error(ErrorCode::invalid_picture, {"picture: broken WebP file: {}", {problem}});
}

std::vector<std::uint8_t> chunk_of(const WebPDemuxer* demuxer, const char* name) {
  WebPChunkIterator chunk = {};
  std::vector<std::uint8_t> bytes;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk) != 0) {
    bytes.assign(chunk.chunk.bytes, chunk.chunk.bytes + chunk.chunk.size);
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return bytes;
}

// The frames, drawn on the canvas.
std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> open(const WebPData& data) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) refuse("another version of the library");
  options.color_mode = MODE_RGBA;
  return {WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete};
}

}  // namespace

DecodedFile decode_webp(FileBytes file) {
  WebPBitstreamFeatures features = {};
  const VP8StatusCode status = WebPGetFeatures(file.data(), file.size(), &features);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) refuse("the file is truncated");
  if (status != VP8_STATUS_OK) refuse("its header cannot be read");
  const auto width = static_cast<std::size_t>(features.width),
             height = static_cast<std::size_t>(features.height);
  expect_picture_size(width, height);

  const WebPData data = {file.data(), file.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data),
                                                                     WebPDemuxDelete);
  if (!demuxer) refuse("the file is truncated");
  if (WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH) != width ||
      WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT) != height) {
    refuse("its sizes differ");
  }
  const auto decoder = open(data);
  std::uint8_t* frame = nullptr;
  int time = 0;
  if (!decoder || WebPAnimDecoderGetNext(decoder.get(), &frame, &time) == 0) {
    refuse("its first frame cannot be decoded");
  }
  DecodedFile decoded;
  decoded.picture = {width, height, 3, std::vector<std::uint8_t>(width * height * 3)};
  std::uint8_t* to = decoded.picture.bytes.data();
  for (std::size_t i = 0; i < width * height; ++i) to = std::copy_n(frame + 4 * i, 3, to);
  decoded.exif = chunk_of(demuxer.get(), "EXIF");
  decoded.xmp = chunk_of(demuxer.get(), "XMP ");
  return decoded;
}

}  // namespace glassformer
