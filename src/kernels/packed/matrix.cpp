#include "kernels/packed/matrix.hpp"

#include <cassert>

#include "tensor/sizes.hpp"

namespace glassformer {

PackedMatrix::PackedMatrix(std::size_t k, std::size_t n) { reshape(k, n); }

void PackedMatrix::reshape(std::size_t k, std::size_t n) {
  k_ = k;
  n_ = n;
  width_ = kernels().panel_width;
  panels_ = (n + width_ - 1) / width_;
  data_.resize(checked_product("a packed matrix", {panels_, width_, k}));
  set_to_zero(data_);
}

std::size_t PackedMatrix::offset(std::size_t column) const {
  return column / width_ * panel_stride() + column % width_;
}

void PackedMatrix::set_column(std::size_t column, std::span<const float> values) {
  assert(column < n_ && values.size() == k_);
  float* to = data_.data() + offset(column);
  for (std::size_t row = 0; row < k_; ++row) to[row * width_] = values[row];
}

void PackedMatrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  const float* from = data_.data() + offset(column);
  for (std::size_t row = 0; row < k_; ++row) values[row] = from[row * width_];
}

PackedMatrix PackedMatrix::select(std::span<const std::int32_t> columns) const {
  PackedMatrix selected(k_, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    assert(static_cast<std::size_t>(columns[i]) < n_);
    const float* from = data_.data() + offset(static_cast<std::size_t>(columns[i]));
    float* to = selected.data_.data() + selected.offset(i);
    for (std::size_t row = 0; row < k_ * width_; row += width_) to[row] = from[row];
  }
  return selected;
}

void PackedMatrix::set_row(std::size_t row, std::span<const float> values) {
  assert(row < k_ && values.size() == n_);
  for (std::size_t panel = 0; panel < panels_; ++panel) {
    const std::size_t first = panel * width_;
    const std::size_t count = n_ - first < width_ ? n_ - first : width_;
    float* const to = data_.data() + panel * panel_stride() + row * width_;
    for (std::size_t i = 0; i < count; ++i) to[i] = values[first + i];
  }
}

}  // namespace glassformer
