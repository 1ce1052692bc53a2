#pragma once

#include <memory>

#include "layers/attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/layer_norm.hpp"

namespace glassformer {

/// Self-attention and feed-forward, each with its norm and a residual connection: one of the N
/// boxes of "Attention Is All You Need", figure 1, left.
class EncoderLayer {
 public:
  struct Parts {
    std::unique_ptr<MultiHeadAttention> self_attn;
    std::unique_ptr<LayerNorm> self_attn_layer_norm;
    std::unique_ptr<FeedForward> feed_forward;
    std::unique_ptr<LayerNorm> final_layer_norm;
  };

  explicit EncoderLayer(Parts parts) : parts_(std::move(parts)) {}
  virtual ~EncoderLayer() = default;

  /// Declares `self_attn`, `self_attn_layer_norm`, `fc1`, `fc2`, `final_layer_norm`.
  void declare(const ParameterScope& scope);

  /// x [N, D], in place.
  virtual void operator()(View<2> x, const Batch& batch, const Inspection& inspection,
                          Workspace& workspace) const = 0;

  const MultiHeadAttention& self_attn() const { return *parts_.self_attn; }

 protected:
  Parts parts_;
};

/// x + f(norm(x)): trains without a warm-up (Xiong et al. 2020).
class PreNormEncoderLayer final : public EncoderLayer {
 public:
  using EncoderLayer::EncoderLayer;
  void operator()(View<2> x, const Batch& batch, const Inspection& inspection,
                  Workspace& workspace) const override;
};

/// norm(x + f(x)): the paper's own order.
class PostNormEncoderLayer final : public EncoderLayer {
 public:
  using EncoderLayer::EncoderLayer;
  void operator()(View<2> x, const Batch& batch, const Inspection& inspection,
                  Workspace& workspace) const override;
};

}  // namespace glassformer
