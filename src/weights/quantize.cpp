#include "weights/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "weights/floats.hpp"

namespace glassformer {
namespace {

// Returns the scale of values whose largest magnitude is that of `extreme`.
float scale_of(float extreme, unsigned bits) {
  constexpr float least = std::numeric_limits<float>::min();
  if (bits == 8) return std::max(std::abs(extreme) / 127, least);
  const float scale = round_to_bfloat(extreme / -8);
  return std::abs(scale) < least ? least : scale;
}

}  // namespace

std::size_t columns_of_scale(std::size_t columns, unsigned bits) {
  return bits == 4 ? std::min(columns, int4_group) : columns;
}

std::size_t scales_of_row(std::size_t columns, unsigned bits) {
  const std::size_t shared = columns_of_scale(columns, bits);
  return shared == 0 ? 0 : (columns + shared - 1) / shared;
}

QuantizedMatrix quantize(std::span<const float> matrix, std::size_t rows, unsigned bits) {
  const float least = bits == 4 ? -8 : -127, most = bits == 4 ? 7 : 127;
  const std::size_t columns = matrix.size() / rows, shared = columns_of_scale(columns, bits);
  QuantizedMatrix result;
  result.values.reserve(matrix.size());
  result.scales.reserve(rows * scales_of_row(columns, bits));
  for (std::size_t first = 0; first < matrix.size();) {
    const std::size_t left = columns - first % columns;
    const std::span<const float> group = matrix.subspan(first, std::min(shared, left));
    float extreme = 0;
    for (float value : group) {
      if (std::abs(value) > std::abs(extreme)) extreme = value;
    }
    const float scale = scale_of(extreme, bits);
    for (float value : group) {
      const float rounded = std::nearbyint(value / scale);
      result.values.push_back(static_cast<std::int8_t>(std::clamp(rounded, least, most)));
    }
    result.scales.push_back(scale);
    first += group.size();
  }
  return result;
}

std::vector<std::byte> packed_nibbles(std::span<const std::int8_t> values, std::size_t columns) {
  std::vector<std::byte> bytes;
  for (std::size_t first = 0; first < values.size(); first += columns) {
    for (std::size_t column = 0; column < columns; column += 2) {
      const int low = values[first + column] + 8;
      const int high = column + 1 < columns ? values[first + column + 1] + 8 : 0;
      bytes.push_back(static_cast<std::byte>(low | high << 4));
    }
  }
  return bytes;
}

void unpack_nibbles(std::span<const std::byte> bytes, std::size_t columns,
                    std::span<std::int8_t> values) {
  const std::byte* from = bytes.data();
  for (std::size_t first = 0; first < values.size(); first += columns) {
    for (std::size_t column = 0; column < columns; ++column) {
      const int half = std::to_integer<int>(from[column / 2]) >> column % 2 * 4 & 0xF;
      values[first + column] = static_cast<std::int8_t>(half - 8);
    }
    from += (columns + 1) / 2;
  }
}

}  // namespace glassformer
