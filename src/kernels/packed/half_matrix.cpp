#include "kernels/packed/half_matrix.hpp"

#include <cassert>

#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

PackedHalfMatrix::PackedHalfMatrix(std::size_t k, std::size_t n, Half format)
    : k_(k), n_(n), width_(kernels().panel_width), format_(format) {
  data_.resize(checked_product("a packed matrix", {(n + width_ - 1) / width_, width_, k}));
}

std::size_t PackedHalfMatrix::offset(std::size_t column) const {
  return column / width_ * panel_stride() + column % width_;
}

void PackedHalfMatrix::set_column(std::size_t column, std::span<const std::uint16_t> values) {
  assert(column < n_ && values.size() == k_);
  std::uint16_t* to = data_.data() + offset(column);
  for (std::size_t row = 0; row < k_; ++row) to[row * width_] = values[row];
}

void PackedHalfMatrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  const std::uint16_t* from = data_.data() + offset(column);
  for (std::size_t row = 0; row < k_; ++row) values[row] = to_float(format_, from[row * width_]);
}

PackedHalfMatrix PackedHalfMatrix::select(std::span<const std::int32_t> columns) const {
  PackedHalfMatrix selected(k_, columns.size(), format_);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    assert(static_cast<std::size_t>(columns[i]) < n_);
    const std::uint16_t* from = data_.data() + offset(static_cast<std::size_t>(columns[i]));
    std::uint16_t* to = selected.data_.data() + selected.offset(i);
    for (std::size_t row = 0; row < k_ * width_; row += width_) to[row] = from[row];
  }
  return selected;
}

}  // namespace glassformer
