#pragma once

#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

struct Range {
  float low, high;  // of a row's elements and 0
};

inline Range range_of(const float* x, std::size_t n) {
  const Vec zero = Vec::broadcast(0.0f);
  Vec low = zero, high = zero, second_low = zero, second_high = zero;
  std::size_t i = 0;
  for (; i + 2 * Vec::width <= n; i += 2 * Vec::width) {  // two, as each waits for the last one
    low = min(low, Vec::load(x + i));
    high = max(high, Vec::load(x + i));
    second_low = min(second_low, Vec::load(x + i + Vec::width));
    second_high = max(second_high, Vec::load(x + i + Vec::width));
  }
  for (; i < n; i += Vec::width) {
    const Vec rest = Vec::load_partial(x + i, n - i < Vec::width ? n - i : Vec::width, 0.0f);
    low = min(low, rest);
    high = max(high, rest);
  }
  return {min(low, second_low).minimum(), max(high, second_high).maximum()};
}

inline constexpr std::int32_t rounder_bits = __builtin_bit_cast(std::int32_t, rounder);
inline Held<std::int32_t> held_rounder_bits = rounder_bits;
inline Held<std::int32_t> largest_activation = 127;

inline std::int32_t rounded(float x) {
  return __builtin_bit_cast(std::int32_t, x + rounder) - rounder_bits;
}

// Multiplied and added in two roundings on every machine, so that all of them get the same
// integers.
inline void quantise_vector(Vec x, Vec inverse, Vec shift, std::int32_t offset, std::int32_t most,
                            Activation* to) {
  const Vec shifted = x * inverse + shift;
  Integers integers;
  __builtin_memcpy(&integers, &shifted.lanes, sizeof integers);
  integers -= offset;
  const Integers limit = Integers{} + most;  // two ties may both round up
  integers = integers > limit ? limit : integers;
  store(integers, to);
}

inline void quantise_row(const float* x, std::size_t n, const QuantisedRows& to, std::size_t row) {
  const Range range = range_of(x, n);
  const float scale = (range.high - range.low) / 127.0f;
  const float inverse = scale > 1e-30f ? 1.0f / scale : 0.0f;  // finite
  const std::int32_t zero_point = rounded(-range.low * inverse);
  to.scales[row] = scale;
  to.zero_points[row] = zero_point;

  std::byte* const bytes = to.values + row * to.stride;
  Activation* const q = reinterpret_cast<Activation*>(bytes);
  const Vec factor = Vec::broadcast(inverse), shift = Vec::broadcast(held_rounder);
  const std::int32_t offset = rounder_bits - zero_point, most = largest_activation;
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) {
    quantise_vector(Vec::load(x + i), factor, shift, offset, most, q + i);
  }
  if (i < n) {
    alignas(64) Activation rest[Vec::width];
    quantise_vector(Vec::load_partial(x + i, n - i, 0.0f), factor, shift, offset, most, rest);
    __builtin_memcpy(q + i, rest, (n - i) * sizeof(Activation));
  }
  __builtin_memset(bytes + n * sizeof(Activation), 0, to.stride - n * sizeof(Activation));
}

inline void quantise(const float* x, std::size_t rows, std::size_t columns,
                     const QuantisedRows& to) {
  for (std::size_t row = 0; row < rows; ++row) quantise_row(x + row * columns, columns, to, row);
}

}  // namespace glassformer::GLASSFORMER_ISA
