#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace glassformer {

/// The SHA-256 hash (FIPS 180-4) of bytes that arrive in pieces.
class Sha256 {
 public:
  void add(std::span<const char> bytes);

  /// Returns the hash of all bytes in hexadecimal digits. Must be the last call.
  std::string finish();

 private:
  void take_block();

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_;
  std::uint64_t size_ = 0;  // bytes so far
};

}  // namespace glassformer
