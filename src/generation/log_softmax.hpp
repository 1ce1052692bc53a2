#pragma once

#include "kernels/kernels.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Logits [R, V] to log-probabilities, in place.
inline void log_softmax(View<2> logits) {
  for (std::size_t row = 0; row < logits.shape(0); ++row) {
    const float normalizer = kernels().log_sum_exp(&logits(row, 0), logits.shape(1));
    for (std::size_t id = 0; id < logits.shape(1); ++id) logits(row, id) -= normalizer;
  }
}

}  // namespace glassformer
