#pragma once

#include "layers/attention/self_attention.hpp"
#include "layers/attention/token_mixer.hpp"
#include "layers/linear/linear.hpp"
#include "run/run.hpp"

namespace glassformer {

/// Multi-head attention of a decoder's rows over the encoder's output, whose keys and values are
/// computed once: "Attention Is All You Need", section 3.2.3.
class CrossAttention final : public TokenMixer {
 public:
  CrossAttention(const AttentionShape& shape, Compute compute);

  /// Declares `q_proj`, `k_proj`, `v_proj`, each [E, D], and `out_proj` [D, E].
  void declare(const ParameterScope& scope) override;

  /// kv [n, 2 E] = keys and values of input [n, D]. Shows `k` and `v`.
  void keys_values(const ConstView<2>& input, View<2> kv, const Run& run) const;

  /// x += out_proj(heads(input)), x and input [R, D]; input may be x. Shows `q`, `context` and
  /// `output`.
  void add_to(View<2> x, const ConstView<2>& input, const Run& run) const override;

  const Linear& out_proj() const { return out_proj_; }

 private:
  AttentionShape shape_;
  Linear q_proj_, kv_proj_, out_proj_;
};

}  // namespace glassformer
