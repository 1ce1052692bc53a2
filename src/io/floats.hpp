#pragma once

#include <cstddef>
#include <span>

#include "io/safetensors.hpp"

namespace glassformer {

/// Converts stored elements of any alignment to floats; I8 becomes its integer value, unscaled.
/// NaN, infinities and subnormals keep their meaning. source.size() = target.size() *
/// size_of(dtype).
void to_f32(DType dtype, std::span<const std::byte> source, std::span<float> target);

/// Multiplies each row of a matrix with its scale; there are as many rows as scales.
void scale_rows(std::span<float> matrix, std::span<const float> scales);

/// The place of the first infinity or NaN; values.size() if there is none.
std::size_t first_not_finite(std::span<const float> values);

}  // namespace glassformer
