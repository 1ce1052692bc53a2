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
  /// The same, with the norm's scale not frozen: sets `to` [D].
  void lead_back_exactly(std::span<const float> gradient, const float* input, std::size_t position,
                         Session& session, std::span<float> to) const;
  /// Sets `to` [d_head] to the query or key of a row, normed and rotated.
  void project(const float* input, std::size_t position, Session& session,
               std::span<float> to) const;

 private:
  // W · input + b, before the norm: sets `to` [d_head].
  void multiply(const float* input, std::span<float> to) const;
};

}  // namespace glassformer
