#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// A matrix [rows, columns] as 8-bit integers: value ≈ integer · scale of its row.
struct QuantizedMatrix {
  std::vector<std::int8_t> values;  ///< -127 … 127
  std::vector<float> scales;        ///< [rows], above 0
};

/// Quantizes symmetrically with one scale per row, so that the row's largest absolute value becomes
/// 127. Rounds to nearest, ties to even. Restored values differ by at most half a scale.
QuantizedMatrix quantize(std::span<const float> matrix, std::size_t rows);

}  // namespace glassformer
