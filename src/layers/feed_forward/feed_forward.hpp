#pragma once

#include <cstddef>
#include <memory>

#include "layers/linear/linear.hpp"
#include "run/run.hpp"

namespace glassformer {

struct FeedForwardShape {
  std::size_t d_model, d_ff;
  Activation activation;
  Bias bias;
};

/// x += fc2(hidden(input)): "Attention Is All You Need", section 3.3.
class FeedForward {
 public:
  /// The columns of workspace.hidden that a block of this kind takes.
  static std::size_t d_hidden(bool gated, std::size_t d_ff) { return gated ? 2 * d_ff : d_ff; }

  FeedForward(const FeedForwardShape& shape, Compute compute)
      : shape_(shape), fc2_(shape.d_ff, shape.d_model, compute) {}
  virtual ~FeedForward() = default;

  /// Declares `fc2` [D, F] and what `hidden` is made with.
  virtual void declare(const ParameterScope& scope);

  /// x and input [n, D]; input may be x. Shows `fc1`, the hidden rows, and `fc2`.
  void add_to(View<2> x, const ConstView<2>& input, const Run& run) const;

  const Linear& fc2() const { return fc2_; }

 protected:
  /// hidden [n, F] of input [n, D], n at most Workspace::feed_forward_rows: rows of
  /// workspace.hidden.
  virtual View<2> hidden(const ConstView<2>& input, Workspace& workspace) const = 0;

  const FeedForwardShape& shape() const { return shape_; }

 private:
  FeedForwardShape shape_;
  Linear fc2_;
};

/// hidden = activation(fc1(input)).
class PlainFeedForward final : public FeedForward {
 public:
  PlainFeedForward(const FeedForwardShape& shape, Compute compute)
      : FeedForward(shape, compute), fc1_(shape.d_model, shape.d_ff, compute) {}
  /// Declares `fc1` [F, D] and `fc2`.
  void declare(const ParameterScope& scope) override;

 protected:
  View<2> hidden(const ConstView<2>& input, Workspace& workspace) const override;

 private:
  Linear fc1_;
};

/// hidden = activation(fc1_gate(input)) · fc1(input), element by element: Shazeer 2020, "GLU
/// Variants Improve Transformer".
class GatedFeedForward final : public FeedForward {
 public:
  GatedFeedForward(const FeedForwardShape& shape, Compute compute)
      : FeedForward(shape, compute), gate_and_fc1_(shape.d_model, 2 * shape.d_ff, compute) {}
  /// Declares `fc1_gate` and `fc1`, each [F, D], and `fc2`.
  void declare(const ParameterScope& scope) override;

 protected:
  View<2> hidden(const ConstView<2>& input, Workspace& workspace) const override;

 private:
  Linear gate_and_fc1_;  // one product for both
};

std::unique_ptr<FeedForward> make_feed_forward(bool gated, const FeedForwardShape& shape,
                                               Compute compute);

}  // namespace glassformer
