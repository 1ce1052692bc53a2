#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A PackedMatrix of 8-bit integers with one scale per column.
class PackedInt8Matrix {
 public:
  /// Creates zeros, packed for these kernels.
  PackedInt8Matrix(std::size_t k, std::size_t n, const Kernels& run = kernels());

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  std::size_t padded_n() const { return scales_.size(); }
  std::size_t panel_stride() const { return steps_ * depth_ * width_; }
  const std::int8_t* data() const { return data_.data(); }
  /// [n] padded to whole panels, as Int8MatmulArgs requires.
  const float* scales() const { return scales_.data(); }
  const std::int32_t* sums() const { return sums_.data(); }

  /// Sets column `column` to scale · values [k].
  void set_column(std::size_t column, std::span<const std::int8_t> values, float scale);
  /// Sets values [k] to column `column`.
  void copy_column(std::size_t column, std::span<float> values) const;
  /// Returns a matrix of these columns, in this order.
  PackedInt8Matrix select(std::span<const std::int32_t> columns) const;

 private:
  PackedInt8Matrix(std::size_t k, std::size_t n, std::size_t width, std::size_t depth);
  std::size_t offset(std::size_t column) const;  // index of its first element

  std::size_t k_, n_, width_, depth_, steps_;
  std::vector<std::int8_t, AlignedAllocator<std::int8_t>> data_;
  AlignedBuffer scales_;
  std::vector<std::int32_t> sums_;  // of the integers of each column
};

}  // namespace glassformer
