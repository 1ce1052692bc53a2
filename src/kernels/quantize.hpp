#pragma once

#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

// Read as signed integers, the bits of non-negative floats are in the order of the floats. Read as
// unsigned integers, the bits of negative floats are in reverse order and above all others. NaN is
// past infinity in both orders, so finding it takes no extra instruction.
using Unsigned [[gnu::vector_size(sizeof(std::uint32_t) * Vec::width)]] = std::uint32_t;

inline Integers bits_of(Vec x) {
  Integers bits;
  __builtin_memcpy(&bits, &x.lanes, sizeof bits);
  return bits;
}

template <typename Lanes>
inline Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}

inline float largest_positive(Integers bits) {
  Vec::IntBatch lanes;
  __builtin_memcpy(&lanes, &bits, sizeof bits);
  return __builtin_bit_cast(float, xsimd::reduce_max(lanes));
}

inline float largest_negative(Unsigned bits) {
  xsimd::batch<std::uint32_t> lanes;
  __builtin_memcpy(&lanes, &bits, sizeof bits);
  const std::uint32_t largest = xsimd::reduce_max(lanes);
  return largest >> 31 == 1 ? __builtin_bit_cast(float, largest) : 0.0f;
}

struct Range {
  float low, high;  // of the row's elements and 0; NaN if an element is NaN
};

inline Range range_of(const float* x, std::size_t n) {
  Integers high = {}, second_high = {};
  Unsigned low = {}, second_low = {};
  const auto take = [](Vec elements, Unsigned& lows, Integers& highs) {
    const Integers bits = bits_of(elements);
    lows = larger(lows, (Unsigned)bits);
    highs = larger(highs, bits);
  };
  std::size_t i = 0;
  for (; i + 2 * Vec::width <= n; i += 2 * Vec::width) {  // two, as each waits for the previous one
    take(Vec::load(x + i), low, high);
    take(Vec::load(x + i + Vec::width), second_low, second_high);
  }
  for (; i < n; i += Vec::width) {
    take(Vec::load_partial(x + i, n - i < Vec::width ? n - i : Vec::width, 0.0f), low, high);
  }
  return {largest_negative(larger(low, second_low)), largest_positive(larger(high, second_high))};
}

inline constexpr std::int32_t rounder_bits = __builtin_bit_cast(std::int32_t, rounder);
inline Held<std::int32_t> held_rounder_bits = rounder_bits;
inline Held<std::int32_t> largest_activation = 127;

inline std::int32_t rounded(float x) {
  return __builtin_bit_cast(std::int32_t, x + rounder) - rounder_bits;
}

// Multiplies and adds with two roundings on every machine, so that all get the same integers.
inline void quantize_vector(Vec x, Vec inverse, Vec shift, std::int32_t offset, std::int32_t most,
                            QuantizedActivation* to) {
  Integers integers = bits_of(x * inverse + shift) - offset;
  const Integers limit = Integers{} + most;  // exceeded if two ties round up
  integers = integers > limit ? limit : integers;
  store(integers, to);
}

inline void quantize_row(const float* x, std::size_t n, const QuantizedRows& to, std::size_t row) {
  const Range range = range_of(x, n);
  const float scale = (range.high - range.low) / 127.0f;
  const bool ranges = scale > 1e-30f && scale <= 3.402823466e+38f;
  const float inverse = ranges ? 1.0f / scale : 0.0f;  // finite
  const std::int32_t zero_point = ranges ? rounded(-range.low * inverse) : 0;
  to.scales[row] = scale;
  to.zero_points[row] = zero_point;

  std::byte* const bytes = to.values + row * to.stride;
  QuantizedActivation* const q = reinterpret_cast<QuantizedActivation*>(bytes);
  const Vec factor = Vec::broadcast(inverse), shift = Vec::broadcast(held_rounder);
  const std::int32_t offset = rounder_bits - zero_point, most = largest_activation;
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) {
    quantize_vector(Vec::load(x + i), factor, shift, offset, most, q + i);
  }
  if (i < n) {
    alignas(64) QuantizedActivation rest[Vec::width];
    quantize_vector(Vec::load_partial(x + i, n - i, 0.0f), factor, shift, offset, most, rest);
    __builtin_memcpy(q + i, rest, (n - i) * sizeof(QuantizedActivation));
  }
  __builtin_memset(bytes + n * sizeof(QuantizedActivation), 0,
                   to.stride - n * sizeof(QuantizedActivation));
}

inline void quantize(const float* x, std::size_t rows, std::size_t columns,
                     const QuantizedRows& to) {
  for (std::size_t row = 0; row < rows; ++row) quantize_row(x + row * columns, columns, to, row);
}

}  // namespace glassformer::GLASSFORMER_ISA
