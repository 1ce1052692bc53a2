#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/kernels.hpp"
#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// The right-hand side [k, n] of a product, in the panels that the machine's kernel reads: panel p
/// holds columns p·w … p·w + w - 1 of each of the k rows, zeros past column n.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(std::size_t k, std::size_t n);

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  /// Returns n rounded up to whole panels: the length to which a bias must be padded.
  std::size_t padded_n() const { return panels_ * width_; }
  std::size_t panel_stride() const { return k_ * width_; }
  const float* data() const { return data_.data(); }

  /// Changes the shape and sets all elements to zero. Reuses the memory if it suffices.
  void reshape(std::size_t k, std::size_t n);
  /// Sets column `column` to values [k]: the weights of one output, as in a Linear's weight matrix.
  void set_column(std::size_t column, std::span<const float> values);
  /// Sets values [k] to column `column`.
  void copy_column(std::size_t column, std::span<float> values) const;
  /// Returns a matrix of these columns, in this order.
  PackedMatrix select(std::span<const std::int32_t> columns) const;
  /// Sets row `row` to values [n].
  void set_row(std::size_t row, std::span<const float> values);

 private:
  std::size_t offset(std::size_t column) const;  // index of its first element

  std::size_t k_ = 0, n_ = 0, width_ = 1, panels_ = 0;
  AlignedBuffer data_;
};

}  // namespace glassformer
