#pragma once

#include <bit>
#include <cstdint>

namespace glassformer {

/// A format of floats in 16 bits.
enum class Half : std::uint8_t {
  f16,   ///< IEEE half precision
  bf16,  ///< bfloat16: the upper half of a float
};

/// Whether products read such numbers as they are stored. In WebAssembly, that code would make
/// every binary 2 KB larger.
#ifdef __wasm__
inline constexpr bool keeps_halves = false;
#else
inline constexpr bool keeps_halves = true;
#endif

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7FFFu;
  if (magnitude >= 0x7C00u) {  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  }
  // Moves exponent and fraction to their places in a float. The product corrects the exponent's
  // bias and is exact for normal and subnormal numbers.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

inline float bfloat_to_float(std::uint16_t value) {
  return std::bit_cast<float>(std::uint32_t{value} << 16);
}

inline float to_float(Half format, std::uint16_t value) {
  return format == Half::f16 ? half_to_float(value) : bfloat_to_float(value);
}

}  // namespace glassformer
