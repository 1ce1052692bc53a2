#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "run/sequences.hpp"
#include "tensor/tensor.hpp"
#include "weights/loader.hpp"

namespace glassformer {

/// Adds to each token a vector that depends on its position in its own sequence only: row p of a
/// table [longest, D].
class PositionalEncoding {
 public:
  /// What stands for no position: the row before that of a sequence's first token.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// `first`: the row of the table for a sequence's first token.
  PositionalEncoding(std::size_t longest, std::size_t d_model, std::size_t first = 0)
      : longest_(longest), d_model_(d_model), first_(first) {}
  PositionalEncoding(const PositionalEncoding&) = delete;
  PositionalEncoding& operator=(const PositionalEncoding&) = delete;
  virtual ~PositionalEncoding() = default;

  virtual void declare(const ParameterScope& scope) = 0;

  /// x [N, D] += table[position]. Throws internal where a sequence is longer than `longest`.
  void add_to(View<2> x, const Sequences& sequences);
  /// The same for rows of any positions [N], or of none.
  void add_to(View<2> x, std::span<const std::size_t> positions);

  /// Makes the rows of the first `count` positions, so that these allocate nothing.
  void reserve(std::size_t count);

 protected:
  /// Makes the table `count` rows long.
  virtual void extend(std::size_t count) = 0;

  std::size_t longest() const { return longest_; }
  std::size_t d_model() const { return d_model_; }
  std::size_t first() const { return first_; }
  std::size_t rows() const { return table_.size() / d_model_; }

  AlignedBuffer table_;  // [rows, D]

 private:
  std::size_t longest_, d_model_, first_;
};

/// Where a row has its sines and cosines: side by side, or sines in its first half, and then with
/// frequencies that end before 1/10000, as they do side by side, or there.
enum class SinusoidLayout { interleaved, halves, halves_endpoint };

/// sin(p / 10000^(2i/D)) and cos of the same for i < D/2, at 2i and 2i + 1 as in "Attention Is All
/// You Need", 3.5, or at i and D/2 + i; with the endpoint, of p / 10000^(i/(D/2 - 1)) as
/// Tensor2Tensor and Marian have them.
/// The table is made as long as the sequences that come: no file holds it, so that only a
/// configuration says how long it may get.
class SinusoidalEncoding final : public PositionalEncoding {
 public:
  struct Angle {
    double sine, cosine;
  };

  SinusoidalEncoding(std::size_t longest, std::size_t d_model,
                     SinusoidLayout layout = SinusoidLayout::interleaved)
      : PositionalEncoding(longest, d_model), layout_(layout) {}
  void declare(const ParameterScope&) override {}

 protected:
  void extend(std::size_t count) override;

 private:
  SinusoidLayout layout_;
  std::vector<Angle> next_;  // [D / 2] of the row behind the last
};

/// Learned positions; declares `weight` [first + longest, D].
class LearnedPositions final : public PositionalEncoding {
 public:
  using PositionalEncoding::PositionalEncoding;
  void declare(const ParameterScope& scope) override;

 protected:
  void extend(std::size_t count) override;
};

/// relative: nothing is added to the tokens; attention gets a bias by distance instead.
enum class PositionKind { sinusoidal, learned, sinusoidal_halves, relative, sinusoidal_endpoint };

/// `first`: of learned positions alone. Null where nothing is added.
std::unique_ptr<PositionalEncoding> make_positions(PositionKind kind, std::size_t longest,
                                                   std::size_t d_model, std::size_t first);

}  // namespace glassformer
