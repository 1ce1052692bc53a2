#pragma once

#include <memory>
#include <optional>

#include "layers/attention/attention.hpp"
#include "layers/feed_forward/feed_forward.hpp"
#include "layers/norm/residual.hpp"

namespace glassformer {

/// A mixer, cross-attention if there is an encoder, and a feed-forward block, each inside a
/// residual connection: one of the N boxes of "Attention Is All You Need", figure 1, left or right.
class Block {
 public:
  /// A sublayer and the connection around it.
  template <class Layer>
  struct Sublayer {
    std::unique_ptr<Layer> layer;
    Residual residual;
  };

  /// The order of the sublayers: one after the other, or both read the block's input.
  enum class Order { in_turn, parallel };

  Block(Sublayer<TokenMixer> self_attn, std::optional<Sublayer<Attention>> encoder_attn,
        Sublayer<FeedForward> feed_forward, Order order)
      : self_attn_(std::move(self_attn)),
        encoder_attn_(std::move(encoder_attn)),
        feed_forward_(std::move(feed_forward)),
        order_(order) {}

  /// Declares `self_attn`, `self_attn_layer_norm`, `encoder_attn`, `encoder_attn_layer_norm`,
  /// `fc1`, `fc2`, `final_layer_norm`, and `self_attn_output_norm` and `fc2_output_norm`, if it has
  /// norms on outputs.
  void declare(const ParameterScope& scope);

  /// Runs the block on x [N, D] in place. Traces `input`, the tensors of its sublayers, and
  /// `output`.
  void operator()(View x, const Run& run) const;

  /// Returns the mixer. The block must not have a recurrent unit.
  const Attention& self_attn() const { return static_cast<const Attention&>(*self_attn_.layer); }
  /// Returns the cross-attention and its norm. The block must attend to an encoder.
  const Attention& encoder_attn() const { return *encoder_attn_->layer; }
  bool attends() const { return encoder_attn_.has_value(); }
  const FeedForward& feed_forward() const { return *feed_forward_.layer; }
  /// May be null.
  const Norm* self_attn_layer_norm() const { return self_attn_.residual.norm(); }
  const Norm* encoder_attn_layer_norm() const { return encoder_attn_->residual.norm(); }
  const Norm* final_layer_norm() const { return feed_forward_.residual.norm(); }
  const Norm* self_attn_output_norm() const { return self_attn_.residual.output_norm(); }
  const Norm* fc2_output_norm() const { return feed_forward_.residual.output_norm(); }

 private:
  Sublayer<TokenMixer> self_attn_;
  std::optional<Sublayer<Attention>> encoder_attn_;
  Sublayer<FeedForward> feed_forward_;
  Order order_;
};

}  // namespace glassformer
