#include "kernels/packed_matrix.hpp"

#include <cassert>
#include <cstring>

namespace glassformer {

PackedMatrix::PackedMatrix(std::size_t k, std::size_t n) { reshape(k, n); }

void PackedMatrix::reshape(std::size_t k, std::size_t n) {
  k_ = k;
  n_ = n;
  width_ = kernels().panel_width;
  panels_ = (n + width_ - 1) / width_;
  data_.assign(panels_ * panel_stride(), 0.0f);
}

void PackedMatrix::set_column(std::size_t column, std::span<const float> values) {
  assert(column < n_ && values.size() == k_);
  float* to = data_.data() + column / width_ * panel_stride() + column % width_;
  for (std::size_t row = 0; row < k_; ++row) to[row * width_] = values[row];
}

void PackedMatrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  const float* from = data_.data() + column / width_ * panel_stride() + column % width_;
  for (std::size_t row = 0; row < k_; ++row) values[row] = from[row * width_];
}

void PackedMatrix::set_row(std::size_t row, std::span<const float> values) {
  assert(row < k_ && values.size() == n_);
  for (std::size_t panel = 0; panel < panels_; ++panel) {
    const std::size_t first = panel * width_;
    const std::size_t count = n_ - first < width_ ? n_ - first : width_;
    std::memcpy(data_.data() + panel * panel_stride() + row * width_, values.data() + first,
                count * sizeof(float));
  }
}

}  // namespace glassformer
