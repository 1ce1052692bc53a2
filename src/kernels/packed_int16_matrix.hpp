#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace glassformer {

/// PackedMatrix for 16-bit integers [k, n]. Rows past k, to an even number, are zero; columns past
/// n hold anything.
class PackedInt16Matrix {
 public:
  /// Nothing, to be packed for these kernels.
  explicit PackedInt16Matrix(const Kernels& run = kernels()) : width_(run.panel_width) {}

  std::size_t panel_stride() const { return even(k_) * width_; }
  /// Row `first` of each panel, an even number.
  const std::int16_t* data(std::size_t first) const { return data_.data() + first * width_; }

  /// = the matrix whose rows [k, n] lie even(n) integers apart. Keeps the memory where it suffices.
  void pack(const std::int16_t* rows, std::size_t k, std::size_t n);
  /// = the matrix whose columns [n, k] lie even(k) integers apart, zero where k is odd.
  void pack_transposed(const std::int16_t* columns, std::size_t k, std::size_t n);

  static std::size_t even(std::size_t n) { return n + n % 2; }

 private:
  void reshape(std::size_t k, std::size_t n);

  std::size_t width_, k_ = 0;
  std::vector<std::int16_t> data_;
};

}  // namespace glassformer
