#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "weights/safetensors.hpp"

namespace glassformer {

/// Converts stored elements of any alignment to floats. I8 becomes its integer value, unscaled.
/// NaN, infinities and subnormals are preserved. source.size() = target.size() * size_of(dtype).
void to_f32(DType dtype, std::span<const std::byte> source, std::span<float> target);

/// Converts floats to F32, F16 or BF16: the nearest number of that type, ties to even. Returns
/// `source` itself for F32, otherwise the result stored in `room`.
std::span<const std::byte> from_f32(DType dtype, std::span<const float> source,
                                    std::vector<std::byte>& room);

/// Returns the nearest bfloat16 number, ties to even.
float round_to_bfloat(float value);

/// Returns the index of the first infinity or NaN, or values.size() if all values are finite.
std::size_t first_not_finite(std::span<const float> values);

}  // namespace glassformer
