#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// A matrix [rows, columns] as integers of 8 or 4 bits: value ≈ integer · scale. With 8 bits, a row
/// has one scale. With 4 bits, it has one per group of `int4_group` columns; the last group may be
/// shorter.
struct QuantizedMatrix {
  std::vector<std::int8_t> values;  ///< -127 … 127, or -8 … 7
  std::vector<float> scales;        ///< [rows], above 0; or [rows, groups], bfloat16, not 0
};

/// Returns how many of the columns of a row share a scale, all of them or a group.
std::size_t columns_of_scale(std::size_t columns, unsigned bits);
/// Returns the number of scales of a row.
std::size_t scales_of_row(std::size_t columns, unsigned bits);

/// Quantizes symmetrically, rounding to nearest, ties to even. With 8 bits, the row's largest
/// absolute value becomes 127, and restored values differ by at most half a scale. With 4 bits, the
/// value with the largest magnitude in a group becomes -8, by a negative scale if it is positive.
/// So the other values have smaller steps than with -7 … 7; only one near that value with its sign
/// reversed, which would be 8, becomes 7 and may differ by more than half a scale.
QuantizedMatrix quantize(std::span<const float> matrix, std::size_t rows, unsigned bits);

/// Returns integers of 4 bits, rows of `columns`, two in a byte, the first in the low half, each
/// plus 8. A row has whole bytes.
std::vector<std::byte> packed_nibbles(std::span<const std::int8_t> values, std::size_t columns);
/// The inverse: `values` has rows of `columns`.
void unpack_nibbles(std::span<const std::byte> bytes, std::size_t columns,
                    std::span<std::int8_t> values);

}  // namespace glassformer
