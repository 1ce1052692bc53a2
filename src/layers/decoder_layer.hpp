#pragma once

#include <memory>

#include "layers/cached_attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/layer_norm.hpp"

namespace glassformer {

/// The cached keys and values that one layer reads and writes in one step.
struct DecoderStep {
  View<2> own_kv;  ///< [R, 2 D]: the step's own rows of self_attn.kv, written by the layer
  AttentionStep self_attn, encoder_attn;
};

/// Self-attention, attention over the encoder's output and feed-forward, each with its norm and a
/// residual connection: one of the N boxes of "Attention Is All You Need", figure 1, right.
class DecoderLayer {
 public:
  struct Parts {
    std::unique_ptr<CachedAttention> self_attn;
    std::unique_ptr<LayerNorm> self_attn_layer_norm;
    std::unique_ptr<CachedAttention> encoder_attn;
    std::unique_ptr<LayerNorm> encoder_attn_layer_norm;
    std::unique_ptr<FeedForward> feed_forward;
    std::unique_ptr<LayerNorm> final_layer_norm;
  };

  explicit DecoderLayer(Parts parts) : parts_(std::move(parts)) {}
  virtual ~DecoderLayer() = default;

  /// Declares `self_attn`, `self_attn_layer_norm`, `encoder_attn`, `encoder_attn_layer_norm`,
  /// `fc1`, `fc2`, `final_layer_norm`.
  void declare(const ParameterScope& scope);

  /// x [R, D], in place.
  virtual void operator()(View<2> x, const DecoderStep& step, Workspace& workspace) const = 0;

  const CachedAttention& self_attn() const { return *parts_.self_attn; }
  const CachedAttention& encoder_attn() const { return *parts_.encoder_attn; }
  const FeedForward& feed_forward() const { return *parts_.feed_forward; }

 protected:
  Parts parts_;
};

/// x + f(norm(x)).
class PreNormDecoderLayer final : public DecoderLayer {
 public:
  using DecoderLayer::DecoderLayer;
  void operator()(View<2> x, const DecoderStep& step, Workspace& workspace) const override;
};

/// norm(x + f(x)): the paper's own order.
class PostNormDecoderLayer final : public DecoderLayer {
 public:
  using DecoderLayer::DecoderLayer;
  void operator()(View<2> x, const DecoderStep& step, Workspace& workspace) const override;
};

}  // namespace glassformer
