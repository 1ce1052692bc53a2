#pragma once

#include <cstddef>

#include "io/weights.hpp"
#include "layers/batch.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Token ids to vectors: rows of a learned table [V, D] times a fixed scale, √D in "Attention Is
/// All You Need", section 3.4.
class Embedding {
 public:
  Embedding(std::size_t vocab_size, std::size_t d_model, float scale);
  Embedding(const Embedding&) = delete;
  Embedding& operator=(const Embedding&) = delete;

  /// Declares `weight` [V, D].
  void declare(const ParameterScope& scope);

  /// x [N, D] = scale · table[ids].
  void operator()(const Batch& batch, View<2> x) const;

 private:
  Tensor<2> table_;  // [V, D]
  float scale_;
};

}  // namespace glassformer
