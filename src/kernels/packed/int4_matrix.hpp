#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A matrix [k, n] of 4-bit integers, -8 … 7, with one scale per column and group of `int4_group`
/// rows.
///
/// Packed into panels of `Kernels::panel_width` columns; after one group of rows of a panel follows
/// the next. A group is its integers, then its scales as bfloat16. A byte has two integers of a
/// column: in the low half that of row r, in the high half that of row r + `int8_depth`. Zeros
/// follow the last row and the last column.
class PackedInt4Matrix {
 public:
  /// Creates zeros, packed for these kernels.
  PackedInt4Matrix(std::size_t k, std::size_t n, const Kernels& run = kernels());

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  std::size_t groups() const { return groups_; }
  std::size_t panel_stride() const { return groups_ * group_bytes(); }
  const std::byte* data() const { return data_.data(); }
  /// [n] padded to whole panels, as Int4MatmulArgs requires.
  const float* sums() const { return sums_.data(); }

  /// Sets column `column` to values [k] times the scale of their group; scales [groups()] are
  /// bfloat16 numbers.
  void set_column(std::size_t column, std::span<const std::int8_t> values,
                  std::span<const float> scales);
  /// Sets values [k] to column `column`.
  void copy_column(std::size_t column, std::span<float> values) const;
  /// Returns a matrix of these columns, in this order.
  PackedInt4Matrix select(std::span<const std::int32_t> columns) const;

 private:
  PackedInt4Matrix(std::size_t k, std::size_t n, std::size_t width, std::size_t depth);
  std::size_t group_bytes() const { return width_ * (int4_group / 2 + 2); }
  /// Returns the index of the byte with row `row` of a group, and of the group's scale.
  std::size_t offset(std::size_t column, std::size_t group, std::size_t row) const;
  std::size_t scale_offset(std::size_t column, std::size_t group) const;

  std::size_t k_, n_, width_, depth_, groups_;
  std::vector<std::byte, AlignedAllocator<std::byte>> data_;
  AlignedBuffer sums_;  // of each column, with its scales
};

}  // namespace glassformer
