#pragma once

#include <cstddef>
#include <vector>

namespace glassformer {

/// Replaces a matrix [rows, columns] by one with singular values near 1 and the same singular
/// vectors: five Newton-Schulz iterations X ← a X + (b S + c S²) X, S = X Xᵀ, with a, b, c
/// = 3.4445, -4.775, 2.0315 (Jordan et al. 2024, "Muon").
void orthogonalize(std::vector<float>& matrix, std::size_t rows, std::size_t columns);

}  // namespace glassformer
