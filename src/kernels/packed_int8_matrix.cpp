#include "kernels/packed_int8_matrix.hpp"

#include <cassert>
#include <numeric>

namespace glassformer {

PackedInt8Matrix::PackedInt8Matrix(std::size_t k, std::size_t n, const Kernels& run)
    : k_(k),
      n_(n),
      width_(run.panel_width),
      depth_(run.int8_depth),
      steps_((k + depth_ - 1) / depth_) {
  const std::size_t panels = (n + width_ - 1) / width_;
  data_.assign(panels * panel_stride(), 0);
  scales_.assign(panels * width_, 0.0f);
  sums_.assign(panels * width_, 0);
}

// Panels; in a panel steps of depth_ rows; in a step columns; in a column the step's rows.
std::size_t PackedInt8Matrix::place(std::size_t row, std::size_t column) const {
  return column / width_ * panel_stride() + row / depth_ * width_ * depth_ +
         column % width_ * depth_ + row % depth_;
}

void PackedInt8Matrix::set_column(std::size_t column, std::span<const std::int8_t> values,
                                  float scale) {
  assert(column < n_ && values.size() == k_);
  for (std::size_t row = 0; row < k_; ++row) data_[place(row, column)] = values[row];
  scales_[column] = scale;
  sums_[column] = std::accumulate(values.begin(), values.end(), 0);
}

void PackedInt8Matrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  for (std::size_t row = 0; row < k_; ++row) {
    values[row] = static_cast<float>(data_[place(row, column)]) * scales_[column];
  }
}

}  // namespace glassformer
