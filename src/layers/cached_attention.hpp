#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layers/linear.hpp"
#include "layers/workspace.hpp"

namespace glassformer {

/// One row of a decoding step: the rows of the cache that it may attend to, and where its weights
/// go.
struct AttentionRow {
  std::span<const std::uint32_t> keys;
  float* weights = nullptr;  ///< [L, H, keys]; null: not asked for
};

/// What one layer's attention works on in one step.
struct AttentionStep {
  std::size_t layer;
  const float* kv;                       ///< [cached rows, 2 D]: a key and a value side by side
  std::span<const AttentionRow> rows;    ///< [R]
  std::span<const std::size_t> ablated;  ///< heads whose output is zeroed before `out_proj`
};

/// Multi-head attention over keys and values that lie in a cache: the decoder's own, where each row
/// reads the rows of its hypothesis, and the one over the encoder's output. "Attention Is All You
/// Need", section 3.2.3.
class CachedAttention {
 public:
  CachedAttention(std::size_t d_model, std::size_t n_heads, Bias bias, Compute compute);

  /// Declares `q_proj`, `k_proj`, `v_proj` and `out_proj`, each [D, D].
  void declare(const ParameterScope& scope);

  /// kv [n, 2 D] = keys and values of input [n, D].
  void keys_values(const ConstView<2>& input, View<2> kv, Workspace& workspace) const;

  /// x += out_proj(heads(input)), x and input [R, D]; input may be x.
  void add_to(View<2> x, const ConstView<2>& input, const AttentionStep& step,
              Workspace& workspace) const;

 private:
  std::size_t n_heads_, d_head_;
  Bias bias_;
  Linear q_proj_, kv_proj_, out_proj_;
};

}  // namespace glassformer
