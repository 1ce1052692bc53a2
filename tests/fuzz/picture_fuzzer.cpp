// Any bytes are either decoded as a picture of the size that they name, or refused with a typed
// error. The checksums of PNG files are corrected first, since few mutations would have valid ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "image/decode/decode.hpp"

using namespace glassformer;

static std::uint32_t checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static void mend_checksums(std::vector<std::uint8_t>& file) {
  if (file.size() < 8 || file[0] != 0x89) return;
  for (std::size_t at = 8; at + 12 <= file.size();) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | file[at + i];
    if (size > file.size() - at - 12) return;
    const std::uint32_t crc = checksum(std::span(file).subspan(at + 4, size + 4));
    for (std::size_t i = 0; i < 4; ++i) {
      file[at + 8 + size + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += size + 12;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  if (size % 4 != 0) mend_checksums(file);
  try {
    const Picture picture = decode_picture(file);
    if (picture.bytes.size() != picture.width * picture.height * 3) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
