#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/half.hpp"
#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A PackedMatrix [k, n] of floats in 16 bits.
class PackedHalfMatrix {
 public:
  PackedHalfMatrix(std::size_t k, std::size_t n, Half format);

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  Half format() const { return format_; }
  std::size_t panel_stride() const { return k_ * width_; }
  const std::uint16_t* data() const { return data_.data(); }

  /// Sets column `column` to values [k].
  void set_column(std::size_t column, std::span<const std::uint16_t> values);
  /// Sets values [k] to column `column`.
  void copy_column(std::size_t column, std::span<float> values) const;
  /// Returns a matrix of these columns, in this order.
  PackedHalfMatrix select(std::span<const std::int32_t> columns) const;

 private:
  std::size_t offset(std::size_t column) const;  // index of its first element

  std::size_t k_, n_, width_;
  Half format_;
  std::vector<std::uint16_t, AlignedAllocator<std::uint16_t>> data_;
};

}  // namespace glassformer
