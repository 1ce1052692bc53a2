#include "kernels/packed/int16_matrix.hpp"

#include <algorithm>
#include <cstring>

#include "tensor/sizes.hpp"

namespace glassformer {

void PackedInt16Matrix::reshape(std::size_t k, std::size_t n) {
  k_ = k;
  const std::size_t size =
      checked_product("a packed matrix", {(n + width_ - 1) / width_, width_, even(k)});
  if (size > data_.size()) data_.resize(size);
}

void PackedInt16Matrix::pack(const std::int16_t* rows, std::size_t k, std::size_t n) {
  reshape(k, n);
  for (std::size_t row = 0; row < k; row += 2, rows += 2 * even(n)) {
    for (std::size_t first = 0; first < n; first += width_) {
      std::int16_t* to = data_.data() + first / width_ * panel_stride() + row * width_;
      const std::size_t end = std::min(first + width_, n);
      for (std::size_t column = first; column < end; ++column, to += 2) {
        to[0] = rows[column];
        to[1] = row + 1 < k ? rows[even(n) + column] : std::int16_t{0};
      }
    }
  }
}

void PackedInt16Matrix::pack_transposed(const std::int16_t* columns, std::size_t k, std::size_t n) {
  reshape(k, n);
  for (std::size_t column = 0; column < n; ++column) {
    std::int16_t* to = data_.data() + column / width_ * panel_stride() + column % width_ * 2;
    for (std::size_t row = 0; row < k; row += 2, to += 2 * width_, columns += 2) {
      std::memcpy(to, columns, 2 * sizeof *to);
    }
  }
}

}  // namespace glassformer
