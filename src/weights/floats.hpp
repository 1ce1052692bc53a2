#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "weights/safetensors.hpp"

namespace glassformer {

/// Converts stored elements of any alignment to floats; I8 becomes its integer value, unscaled.
/// NaN, infinities and subnormals keep their meaning. source.size() = target.size() *
/// size_of(dtype).
void to_f32(DType dtype, std::span<const std::byte> source, std::span<float> target);

/// The inverse, of F32, F16 and BF16: the nearest number of that type, of two the even one. `room`
/// holds the result where it is not the source itself.
std::span<const std::byte> from_f32(DType dtype, std::span<const float> source,
                                    std::vector<std::byte>& room);

/// Multiplies each row of a matrix with its scale; there are as many rows as scales.
void scale_rows(std::span<float> matrix, std::span<const float> scales);

/// The place of the first infinity or NaN; values.size() if there is none.
std::size_t first_not_finite(std::span<const float> values);

}  // namespace glassformer
