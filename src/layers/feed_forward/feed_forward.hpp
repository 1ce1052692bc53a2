#pragma once

#include <cstddef>
#include <memory>

#include "layers/feed_forward/config.hpp"
#include "layers/linear/linear.hpp"
#include "run/run.hpp"

namespace glassformer {

/// x += fc2(hidden(input)): "Attention Is All You Need", section 3.3.
class FeedForward {
 public:
  /// Rows that are processed together. The weights, two thirds of a layer's, are read once per
  /// block.
  static constexpr std::size_t block_rows = 144;

  FeedForward(const FeedForwardConfig& config, std::size_t d_model, Compute compute)
      : config_(config), d_model_(d_model), fc2_(config.d_ff, d_model, compute) {}
  virtual ~FeedForward() = default;

  /// Declares `fc2` [D, F] and the layers that compute `hidden`.
  virtual void declare(const ParameterScope& scope);

  /// x and input [n, D]; input may be x. Traces `fc1`, the hidden rows, and `fc2`.
  void add_to(View x, const ConstView& input, const Run& run) const;

  const Linear& fc2() const { return fc2_; }

 protected:
  /// Returns the number of columns of `buffer`.
  virtual std::size_t columns() const = 0;
  /// Computes hidden [n, F] from input [n, D] in `buffer` [n, columns] and returns it.
  virtual View hidden(const ConstView& input, float* buffer, const Run& run) const = 0;

  const FeedForwardConfig& config() const { return config_; }

 private:
  FeedForwardConfig config_;
  std::size_t d_model_;
  Linear fc2_;
};

/// hidden = activation(fc1(input)).
class PlainFeedForward final : public FeedForward {
 public:
  PlainFeedForward(const FeedForwardConfig& config, std::size_t d_model, Compute compute)
      : FeedForward(config, d_model, compute), fc1_(d_model, config.d_ff, compute) {}
  /// Declares `fc1` [F, D] and `fc2`.
  void declare(const ParameterScope& scope) override;

 protected:
  std::size_t columns() const override { return config().d_ff; }
  View hidden(const ConstView& input, float* buffer, const Run& run) const override;

 private:
  Linear fc1_;
};

/// hidden = activation(fc1_gate(input)) · fc1(input), elementwise: Shazeer 2020, "GLU Variants
/// Improve Transformer".
class GatedFeedForward final : public FeedForward {
 public:
  GatedFeedForward(const FeedForwardConfig& config, std::size_t d_model, Compute compute)
      : FeedForward(config, d_model, compute), gate_and_fc1_(d_model, 2 * config.d_ff, compute) {}
  /// Declares `fc1_gate` and `fc1`, each [F, D], and `fc2`.
  void declare(const ParameterScope& scope) override;

 protected:
  std::size_t columns() const override { return 2 * config().d_ff; }
  View hidden(const ConstView& input, float* buffer, const Run& run) const override;

 private:
  Linear gate_and_fc1_;  // one product for both
};

std::unique_ptr<FeedForward> make_feed_forward(const FeedForwardConfig& config, std::size_t d_model,
                                               Compute compute);

}  // namespace glassformer
