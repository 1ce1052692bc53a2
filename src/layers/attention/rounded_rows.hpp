#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/packed/int16_matrix.hpp"

namespace glassformer {

/// Returns the largest integer for queries and keys. Sums of products stay within 30 bits, so that
/// their differences fit in 32.
inline float largest_factor(std::size_t d_head) {
  return std::min(32767.0f, std::floor(std::sqrt(0x1p30f / static_cast<float>(d_head))));
}

/// Rounds x [count, columns] to integers of at most `limit`. Returns their scale.
inline float round_to(float limit, const GatheredRows& x, std::vector<std::int16_t>& integers) {
  const Kernels& run = kernels();
  const std::size_t size = x.count * PackedInt16Matrix::even(x.columns);
  if (size > integers.size()) integers.resize(size);
  const float largest = run.largest(x);
  run.round_rows(x, largest > 1e-30f ? limit / largest : 0.0f, integers.data());
  return largest / limit;
}

}  // namespace glassformer
