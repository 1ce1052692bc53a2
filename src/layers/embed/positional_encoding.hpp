#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "layers/embed/config.hpp"
#include "run/run.hpp"
#include "run/sequences.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// Adds a vector that depends only on a token's position in its own sequence: row p of a table
/// [longest, D].
class PositionalEncoding {
 public:
  /// No position: selects the row before the first token's row.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// `first`: the row of the table for a sequence's first token.
  PositionalEncoding(std::size_t longest, std::size_t d_model, std::size_t first = 0)
      : longest_(longest), d_model_(d_model), first_(first) {}
  PositionalEncoding(const PositionalEncoding&) = delete;
  PositionalEncoding& operator=(const PositionalEncoding&) = delete;
  virtual ~PositionalEncoding() = default;

  virtual void declare(const ParameterScope& scope) = 0;

  /// x [N, D] += table[position]. Throws internal if a sequence is longer than `longest`.
  void add_to(View x, const Sequences& sequences, const Run& run) const;
  /// Adds the rows of any positions [N]. A position may be `none`.
  void add_to(View x, std::span<const std::size_t> positions, const Run& run) const;

  /// Computes the rows of the first `count` positions, so that these allocate nothing later.
  void reserve(std::size_t count, Session& session) const { rows(first_ + count, session); }

 protected:
  /// Returns the table, with at least `count` rows.
  virtual const float* table(std::size_t count, Session& session) const = 0;

  /// Returns the table if it is learned.
  virtual const Parameter* learned() const { return nullptr; }

  std::size_t longest() const { return longest_; }
  std::size_t d_model() const { return d_model_; }
  std::size_t first() const { return first_; }

 private:
  const float* rows(std::size_t count, Session& session) const;
  void record(View x, std::vector<std::size_t> positions, const Run& run) const;

  std::size_t longest_, d_model_, first_;
};

/// The order of sines and cosines in a row: interleaved, or sines in the first half. With
/// `halves_endpoint`, the lowest frequency is 1/10000; otherwise frequencies end before it.
enum class SinusoidLayout { interleaved, halves, halves_endpoint };

/// Position p has sin(p / 10000^(2i/D)) and the cosine of the same angle for i < D/2: at columns 2i
/// and 2i + 1 as in "Attention Is All You Need", 3.5, or at i and D/2 + i. With the endpoint, the
/// angle is p / 10000^(i/(D/2 - 1)), as in Tensor2Tensor and Marian. A sequence begins at position
/// `first`. If that is not 0, the row before it is zeros, for tokens without a position.
/// The table grows with the longest sequence of a session. It is not stored in a file, so only the
/// configuration limits its length.
class SinusoidalEncoding final : public PositionalEncoding {
 public:
  SinusoidalEncoding(std::size_t longest, std::size_t d_model,
                     SinusoidLayout layout = SinusoidLayout::interleaved, std::size_t first = 0)
      : PositionalEncoding(longest, d_model, first), layout_(layout) {}
  void declare(const ParameterScope&) override {}

 protected:
  const float* table(std::size_t count, Session& session) const override;

 private:
  void extend(GrowingTable& table, std::size_t count) const;

  SinusoidLayout layout_;
};

/// Positions in a grid, row by row, after `special` other ones.
struct PositionGrid {
  std::size_t special, rows, columns;
};

/// Learned positions. Declares `weight` [first + longest, D].
class LearnedPositions final : public PositionalEncoding {
 public:
  using PositionalEncoding::PositionalEncoding;
  void declare(const ParameterScope& scope) override;

  /// x [N, D] += the table's positions, which are those of the grid `from`, at the places of the
  /// grid `to`: bicubic interpolation with a = -0.75, centers at half pixels, and the edge
  /// continued beyond the grid, without antialiasing, as PyTorch's `interpolate` computes it. The
  /// special positions stay. The tape does not record this: a model learns with pictures of its own
  /// size.
  void add_interpolated(View x, const PositionGrid& from, const PositionGrid& to) const;

 protected:
  const float* table(std::size_t count, Session& session) const override;
  const Parameter* learned() const override { return &table_; }

 private:
  Parameter table_;
};

/// Row first + position of the table += the gradient of each row of x [N, D].
void positions_backward(const Parameter& table, std::size_t first,
                        std::span<const std::size_t> positions, const ConstView& x, Tape& tape);

/// `first` is for learned positions and `sinusoidal_endpoint`. Returns null if nothing is added.
std::unique_ptr<PositionalEncoding> make_positions(PositionKind kind, std::size_t longest,
                                                   std::size_t d_model, std::size_t first);

}  // namespace glassformer
