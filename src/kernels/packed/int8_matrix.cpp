#include "kernels/packed/int8_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "tensor/sizes.hpp"

namespace glassformer {

PackedInt8Matrix::PackedInt8Matrix(std::size_t k, std::size_t n, const Kernels& run)
    : PackedInt8Matrix(k, n, run.panel_width, run.int8_depth) {}

PackedInt8Matrix::PackedInt8Matrix(std::size_t k, std::size_t n, std::size_t width,
                                   std::size_t depth)
    : k_(k), n_(n), width_(width), depth_(depth), steps_((k + depth_ - 1) / depth_) {
  const std::size_t panels = (n + width_ - 1) / width_;
  data_.assign(checked_product("a packed matrix", {panels, width_, steps_, depth_}), 0);
  scales_.resize(panels * width_);
  set_to_zero(scales_);
  sums_.assign(panels * width_, 0);
}

// Order, outermost first: panels, steps of depth_ rows, columns, the rows of the step.
std::size_t PackedInt8Matrix::offset(std::size_t column) const {
  return column / width_ * panel_stride() + column % width_ * depth_;
}

void PackedInt8Matrix::set_column(std::size_t column, std::span<const std::int8_t> values,
                                  float scale) {
  assert(column < n_ && values.size() == k_);
  std::int8_t* to = data_.data() + offset(column);
  for (std::size_t row = 0; row < k_; row += depth_, to += width_ * depth_) {
    std::copy_n(values.data() + row, std::min(depth_, k_ - row), to);
  }
  scales_[column] = scale;
  sums_[column] = std::accumulate(values.begin(), values.end(), 0);
}

PackedInt8Matrix PackedInt8Matrix::select(std::span<const std::int32_t> columns) const {
  PackedInt8Matrix selected(k_, columns.size(), width_, depth_);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = static_cast<std::size_t>(columns[i]);
    assert(column < n_);
    const std::int8_t* from = data_.data() + offset(column);
    std::int8_t* to = selected.data_.data() + selected.offset(i);
    for (std::size_t step = 0; step < panel_stride(); step += width_ * depth_) {
      std::copy_n(from + step, depth_, to + step);
    }
    selected.scales_[i] = scales_[column];
    selected.sums_[i] = sums_[column];
  }
  return selected;
}

void PackedInt8Matrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  const std::int8_t* from = data_.data() + offset(column);
  for (std::size_t row = 0; row < k_; row += depth_, from += width_ * depth_) {
    for (std::size_t i = 0; i < std::min(depth_, k_ - row); ++i) {
      values[row + i] = static_cast<float>(from[i]) * scales_[column];
    }
  }
}

}  // namespace glassformer
