#include "kernels/packed_int8_matrix.hpp"

#include <algorithm>
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
std::size_t PackedInt8Matrix::place(std::size_t column) const {
  return column / width_ * panel_stride() + column % width_ * depth_;
}

void PackedInt8Matrix::set_column(std::size_t column, std::span<const std::int8_t> values,
                                  float scale) {
  assert(column < n_ && values.size() == k_);
  std::int8_t* to = data_.data() + place(column);
  for (std::size_t row = 0; row < k_; row += depth_, to += width_ * depth_) {
    std::copy_n(values.data() + row, std::min(depth_, k_ - row), to);
  }
  scales_[column] = scale;
  sums_[column] = std::accumulate(values.begin(), values.end(), 0);
}

void PackedInt8Matrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  const std::int8_t* from = data_.data() + place(column);
  for (std::size_t row = 0; row < k_; row += depth_, from += width_ * depth_) {
    for (std::size_t i = 0; i < std::min(depth_, k_ - row); ++i) {
      values[row + i] = static_cast<float>(from[i]) * scales_[column];
    }
  }
}

}  // namespace glassformer
