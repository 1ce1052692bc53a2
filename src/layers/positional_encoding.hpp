#pragma once

#include <cstddef>
#include <span>

#include "io/weights.hpp"
#include "layers/batch.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Adds to each token a vector that depends on its position in its own sequence only: row p of a
/// table [longest, D].
class PositionalEncoding {
 public:
  PositionalEncoding(std::size_t longest, std::size_t d_model) : table_({longest, d_model}, 0.0f) {}
  PositionalEncoding(const PositionalEncoding&) = delete;
  PositionalEncoding& operator=(const PositionalEncoding&) = delete;
  virtual ~PositionalEncoding() = default;

  virtual void declare(const ParameterScope& scope) = 0;

  /// x [N, D] += table[position].
  void add_to(View<2> x, const Batch& batch) const;
  /// The same for rows of any positions [N].
  void add_to(View<2> x, std::span<const std::size_t> positions) const;

 protected:
  Tensor<2> table_;
};

/// sin(p / 10000^(2i/D)) at dimension 2i, the cosine at 2i + 1: "Attention Is All You Need", 3.5.
class SinusoidalEncoding final : public PositionalEncoding {
 public:
  SinusoidalEncoding(std::size_t longest, std::size_t d_model);
  void declare(const ParameterScope&) override {}
};

/// Learned positions; declares `weight` [longest, D].
class LearnedPositions final : public PositionalEncoding {
 public:
  using PositionalEncoding::PositionalEncoding;
  void declare(const ParameterScope& scope) override;
};

}  // namespace glassformer
