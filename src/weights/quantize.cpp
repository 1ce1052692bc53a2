#include "weights/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace glassformer {

QuantizedMatrix quantize(std::span<const float> matrix, std::size_t rows) {
  QuantizedMatrix result;
  result.values.reserve(matrix.size());
  result.scales.reserve(rows);
  const std::size_t columns = matrix.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<const float> row = matrix.subspan(i * columns, columns);
    float largest = 0;
    for (float value : row) largest = std::max(largest, std::abs(value));
    const float scale = std::max(largest / 127, std::numeric_limits<float>::min());
    for (float value : row) {
      const float rounded = std::nearbyint(value / scale);
      result.values.push_back(static_cast<std::int8_t>(std::clamp(rounded, -127.0f, 127.0f)));
    }
    result.scales.push_back(scale);
  }
  return result;
}

}  // namespace glassformer
