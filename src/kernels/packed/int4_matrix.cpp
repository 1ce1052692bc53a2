#include "kernels/packed/int4_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

// The half of a byte that holds row `row` of a group: how far it is from the low bits.
unsigned shift_of(std::size_t row, std::size_t depth) { return row / depth % 2 * 4; }

}  // namespace

PackedInt4Matrix::PackedInt4Matrix(std::size_t k, std::size_t n, const Kernels& run)
    : PackedInt4Matrix(k, n, run.panel_width, run.int8_depth) {}

PackedInt4Matrix::PackedInt4Matrix(std::size_t k, std::size_t n, std::size_t width,
                                   std::size_t depth)
    : k_(k), n_(n), width_(width), depth_(depth), groups_((k + int4_group - 1) / int4_group) {
  const std::size_t panels = (n + width_ - 1) / width_;
  data_.assign(checked_product("a packed matrix", {panels, groups_, group_bytes()}), std::byte{0});
  sums_.resize(panels * width_);
  set_to_zero(sums_);
}

std::size_t PackedInt4Matrix::offset(std::size_t column, std::size_t group, std::size_t row) const {
  return column / width_ * panel_stride() + group * group_bytes() +
         (row / (2 * depth_) * width_ + column % width_) * depth_ + row % depth_;
}

std::size_t PackedInt4Matrix::scale_offset(std::size_t column, std::size_t group) const {
  return column / width_ * panel_stride() + group * group_bytes() + width_ * int4_group / 2 +
         column % width_ * 2;
}

void PackedInt4Matrix::set_column(std::size_t column, std::span<const std::int8_t> values,
                                  std::span<const float> scales) {
  assert(column < n_ && values.size() == k_ && scales.size() == groups_);
  float sum = 0;
  for (std::size_t group = 0; group < groups_; ++group) {
    const std::size_t first = group * int4_group, rows = std::min(int4_group, k_ - first);
    int integers = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const int value = values[first + row];
      const unsigned shift = shift_of(row, depth_);
      std::byte& both = data_[offset(column, group, row)];
      both = (both & static_cast<std::byte>(0xF0 >> shift)) |
             static_cast<std::byte>((value & 0xF) << shift);
      integers += value;
    }
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(scales[group]) >> 16);
    std::memcpy(&data_[scale_offset(column, group)], &bits, sizeof bits);
    sum += static_cast<float>(integers) * scales[group];
  }
  sums_[column] = sum;
}

void PackedInt4Matrix::copy_column(std::size_t column, std::span<float> values) const {
  assert(column < n_ && values.size() == k_);
  for (std::size_t group = 0; group < groups_; ++group) {
    std::uint16_t bits;
    std::memcpy(&bits, &data_[scale_offset(column, group)], sizeof bits);
    const auto scale = std::bit_cast<float>(std::uint32_t{bits} << 16);
    const std::size_t first = group * int4_group, rows = std::min(int4_group, k_ - first);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto both = static_cast<int>(data_[offset(column, group, row)]);
      const int value = (both >> shift_of(row, depth_) & 0xF) ^ 8;  // 8 more than the integer
      values[first + row] = static_cast<float>(value - 8) * scale;
    }
  }
}

PackedInt4Matrix PackedInt4Matrix::select(std::span<const std::int32_t> columns) const {
  PackedInt4Matrix selected(k_, columns.size(), width_, depth_);
  const std::size_t piece = depth_, step = width_ * depth_;  // of a column; to its next piece
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = static_cast<std::size_t>(columns[i]);
    assert(column < n_);
    for (std::size_t group = 0; group < groups_; ++group) {
      const std::byte* from = data_.data() + offset(column, group, 0);
      std::byte* to = selected.data_.data() + selected.offset(i, group, 0);
      for (std::size_t at = 0; at < width_ * int4_group / 2; at += step) {
        std::copy_n(from + at, piece, to + at);
      }
      std::copy_n(&data_[scale_offset(column, group)], 2,
                  &selected.data_[selected.scale_offset(i, group)]);
    }
    selected.sums_[i] = sums_[column];
  }
  return selected;
}

}  // namespace glassformer
