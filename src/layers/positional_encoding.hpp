#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/weights.hpp"
#include "layers/batch.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Adds to each token a vector that depends on its position in its own sequence only: row p of a
/// table [longest, D].
class PositionalEncoding {
 public:
  PositionalEncoding(std::size_t longest, std::size_t d_model)
      : longest_(longest), d_model_(d_model) {}
  PositionalEncoding(const PositionalEncoding&) = delete;
  PositionalEncoding& operator=(const PositionalEncoding&) = delete;
  virtual ~PositionalEncoding() = default;

  virtual void declare(const ParameterScope& scope) = 0;

  /// x [N, D] += table[position]. Throws internal where a sequence is longer than `longest`.
  void add_to(View<2> x, const Batch& batch);
  /// The same for rows of any positions [N].
  void add_to(View<2> x, std::span<const std::size_t> positions);

  /// Makes the first `count` rows of the table, so that positions below allocate nothing.
  void reserve(std::size_t count);

 protected:
  /// Makes the table `count` rows long.
  virtual void extend(std::size_t count) = 0;

  std::size_t longest() const { return longest_; }
  std::size_t d_model() const { return d_model_; }
  std::size_t rows() const { return table_.size() / d_model_; }

  AlignedBuffer table_;  // [rows, D]

 private:
  std::size_t longest_, d_model_;
};

/// sin(p / 10000^(2i/D)) at dimension 2i, the cosine at 2i + 1: "Attention Is All You Need", 3.5.
/// The table is made as long as the sequences that come: no file holds it, so that only a
/// configuration says how long it may get.
class SinusoidalEncoding final : public PositionalEncoding {
 public:
  struct Angle {
    double sine, cosine;
  };

  using PositionalEncoding::PositionalEncoding;
  void declare(const ParameterScope&) override {}

 protected:
  void extend(std::size_t count) override;

 private:
  std::vector<Angle> next_;  // [D / 2] of the row behind the last
};

/// Learned positions; declares `weight` [longest, D].
class LearnedPositions final : public PositionalEncoding {
 public:
  using PositionalEncoding::PositionalEncoding;
  void declare(const ParameterScope& scope) override;

 protected:
  void extend(std::size_t count) override;
};

}  // namespace glassformer
