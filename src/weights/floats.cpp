#include "weights/floats.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/half.hpp"

namespace glassformer {
namespace {

// Files store little-endian numbers, as do all machines that this is built for.
static_assert(std::endian::native == std::endian::little);

// Loads through memcpy because the bytes may be unaligned.
template <typename Stored, typename Convert>
void convert(std::span<const std::byte> bytes, std::span<float> target, Convert to_float) {
  const std::byte* from = bytes.data();
  for (float& value : target) {
    Stored stored;
    std::memcpy(&stored, from, sizeof stored);
    value = to_float(stored);
    from += sizeof stored;
  }
}

constexpr std::uint32_t exponent_bits = 0x7F800000;  // all set: infinity or NaN

bool is_finite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & exponent_bits) != exponent_bits;
}

}  // namespace

void to_f32(DType dtype, std::span<const std::byte> bytes, std::span<float> target) {
  if (bytes.size() != target.size() * size_of(dtype)) {
    throw_error(ErrorCode::internal, {"to_f32: expected {} bytes, got {}",
                                      {target.size() * size_of(dtype), bytes.size()}});
  }
  switch (dtype) {
    case DType::f32:
      if (!bytes.empty()) std::memcpy(target.data(), bytes.data(), bytes.size());
      return;
    case DType::f16:
      return convert<std::uint16_t>(bytes, target, half_to_float);
    case DType::bf16:
      return convert<std::uint16_t>(bytes, target, bfloat_to_float);
    case DType::i8:
      return convert<std::int8_t>(bytes, target,
                                  [](std::int8_t value) { return static_cast<float>(value); });
    default:
      throw_error(ErrorCode::internal, {"to_f32: expected weights, got {}", {to_string(dtype)}});
  }
}

namespace {

// Returns bits / 2^shift rounded to the nearest integer, ties to even.
std::uint32_t rounded(std::uint32_t bits, unsigned shift) {
  const std::uint32_t half = 1u << (shift - 1), odd = bits >> shift & 1u;
  return (bits + half - 1 + odd) >> shift;
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > exponent_bits) return static_cast<std::uint16_t>(sign | 0x7E00u);  // NaN
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7C00u);   // 65536
  if (magnitude >= 0x38800000u) {  // 2^-14: a normal number; a carry into the exponent is correct
    return static_cast<std::uint16_t>(sign | rounded(magnitude - 0x38000000u, 13));
  }
  // Subnormal: in units of 2^-24, to which adding 0.5 rounds a float.
  const float units = std::bit_cast<float>(magnitude) + 0.5f;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(units) - 0x3F000000u));
}

std::uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (!is_finite(value)) return static_cast<std::uint16_t>(bits >> 16 | (bits & 0xFFFFu ? 1u : 0u));
  return static_cast<std::uint16_t>(rounded(bits, 16));
}

}  // namespace

std::span<const std::byte> from_f32(DType dtype, std::span<const float> source,
                                    std::vector<std::byte>& room) {
  if (dtype == DType::f32) return std::as_bytes(source);
  if (dtype != DType::f16 && dtype != DType::bf16) {
    throw_error(ErrorCode::internal,
                {"from_f32: expected F32, F16 or BF16, got {}", {to_string(dtype)}});
  }
  room.resize(source.size() * size_of(dtype));
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint16_t stored =
        dtype == DType::f16 ? float_to_half(source[i]) : float_to_bfloat(source[i]);
    std::memcpy(room.data() + i * sizeof stored, &stored, sizeof stored);
  }
  return room;
}

float round_to_bfloat(float value) { return bfloat_to_float(float_to_bfloat(value)); }

std::size_t first_not_finite(std::span<const float> values) {
  std::uint32_t found = 0;
  for (const float value : values) found |= is_finite(value) ? 0u : 1u;  // no branch: vectorized
  if (found == 0) return values.size();
  std::size_t i = 0;
  while (is_finite(values[i])) ++i;
  return i;
}

}  // namespace glassformer
