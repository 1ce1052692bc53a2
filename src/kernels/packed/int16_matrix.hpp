#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace glassformer {

/// A PackedMatrix [k, n] of 16-bit integers. If k is odd, a row of zeros follows; columns past n
/// have arbitrary values.
class PackedInt16Matrix {
 public:
  /// Creates an empty matrix, to be packed for these kernels.
  explicit PackedInt16Matrix(const Kernels& run = kernels()) : width_(run.panel_width) {}

  std::size_t panel_stride() const { return even(k_) * width_; }
  /// Returns row `first`, an even number, of the first panel; the others are panel_stride() apart.
  const std::int16_t* data(std::size_t first) const { return data_.data() + first * width_; }

  /// Packs the matrix whose rows [k, n] are even(n) integers apart. Reuses memory if it suffices.
  void pack(const std::int16_t* rows, std::size_t k, std::size_t n);
  /// Packs the matrix whose columns [n, k] are even(k) integers apart, zero-padded if k is odd.
  void pack_transposed(const std::int16_t* columns, std::size_t k, std::size_t n);

  static std::size_t even(std::size_t n) { return n + n % 2; }

 private:
  void reshape(std::size_t k, std::size_t n);

  std::size_t width_, k_ = 0;
  std::vector<std::int16_t> data_;
};

}  // namespace glassformer
