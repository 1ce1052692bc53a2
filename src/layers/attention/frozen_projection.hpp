#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "layers/attention/rotary.hpp"
#include "layers/norm/norm.hpp"

namespace glassformer {

/// The queries, or the keys, of one head as a linear function of the rows that they are computed
/// from: with the scale of their norm, if they have one, frozen.
struct FrozenProjection {
  std::vector<float> weights;      ///< [d_head, D]
  std::vector<float> bias;         ///< [d_head]
  const Norm* norm = nullptr;      ///< may be null
  const Rotary* rotary = nullptr;  ///< may be null

  /// A gradient with respect to a row that is projected, and what biases add to the number.
  struct Input {
    std::vector<float> gradient;  ///< [D]
    double biases = 0;
  };
  /// Leads back the gradient [d_head] of a number with respect to a query or key as it enters the
  /// product, normed and rotated. `input` [D]: the row that it is computed from; `position`: its
  /// position.
  Input lead_back(std::span<const float> gradient, const float* input, std::size_t position,
                  Session& session) const;
};

}  // namespace glassformer
