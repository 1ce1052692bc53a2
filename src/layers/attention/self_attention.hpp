#pragma once

#include <memory>

#include "layers/attention/attention_kind.hpp"
#include "layers/attention/relative_bias.hpp"
#include "layers/attention/token_mixer.hpp"
#include "layers/linear/linear.hpp"
#include "run/run.hpp"

namespace glassformer {

/// The widths of an attention. E, all heads together, need not be D.
struct AttentionShape {
  std::size_t d_model, n_heads, d_head;
  float divisor;  ///< of the scores
  Bias bias;      ///< of the four projections

  std::size_t d_heads() const { return n_heads * d_head; }
};

/// Multi-head self-attention: "Attention Is All You Need", section 3.2.2. Over whole sequences, or
/// over the cached keys and values of the hypotheses that a step of decoding extends.
class SelfAttention final : public TokenMixer {
 public:
  /// `relative`: what the scores get by distance, which outlives this; null: nothing.
  SelfAttention(const AttentionShape& shape, std::unique_ptr<const AttentionKind> kind,
                Compute compute, RelativeBias* relative = nullptr);

  /// Declares `q_proj`, `k_proj`, `v_proj`, each [E, D], and `out_proj` [D, E].
  void declare(const ParameterScope& scope) override;

  /// x += out_proj(heads(input)), x and input [N, D]; input may be x. Shows `q`, `k`, `v`,
  /// `scores`, `weights`, `context` and `output`.
  void add_to(View<2> x, const ConstView<2>& input, const Run& run) const override;

  const Linear& out_proj() const { return out_proj_; }

 private:
  void attend_within_sequences(View<2> qkv, View<2> context, const Run& run) const;
  void attend_to_cache(View<2> qkv, View<2> context, const Run& run) const;

  AttentionShape shape_;
  Compute compute_;
  std::unique_ptr<const AttentionKind> kind_;
  RelativeBias* relative_;
  Linear qkv_proj_, out_proj_;
};

}  // namespace glassformer
