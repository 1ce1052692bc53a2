#include "layers/cached_attention.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"

namespace glassformer {

CachedAttention::CachedAttention(std::size_t d_model, std::size_t n_heads, Bias bias,
                                 Compute compute)
    : n_heads_(n_heads),
      d_head_(d_model / n_heads),
      bias_(bias),
      q_proj_(d_model, d_model, compute),
      kv_proj_(d_model, 2 * d_model, compute),
      out_proj_(d_model, d_model, compute) {}

void CachedAttention::declare(const ParameterScope& scope) {
  const std::size_t d_model = out_proj_.in();
  q_proj_.declare(scope.scope("q_proj"), bias_);
  kv_proj_.declare(scope.scope("k_proj"), 0, d_model, bias_);
  kv_proj_.declare(scope.scope("v_proj"), d_model, d_model, bias_);
  out_proj_.declare(scope.scope("out_proj"), bias_);
}

void CachedAttention::keys_values(const ConstView<2>& input, View<2> kv,
                                  Workspace& workspace) const {
  kv_proj_(input, kv, workspace);
}

void CachedAttention::add_to(View<2> x, const ConstView<2>& input, const AttentionStep& step,
                             Workspace& workspace) const {
  const Kernels& run = kernels();
  const std::size_t d_model = out_proj_.in();
  const std::size_t n = x.shape(0);
  const float scale = 1.0f / std::sqrt(static_cast<float>(d_head_));
  View<2> q = view<2>(workspace.qkv.data(), {n, d_model});  // [R, D]
  View<2> context = rows(workspace.context, 0, n);          // [R, D]
  float* weights = workspace.scores.data();                 // [keys] of one row and head
  q_proj_(input, q, workspace);

  for (std::size_t i = 0; i < n; ++i) {
    const AttentionRow& row = step.rows[i];
    const std::size_t count = row.keys.size();
    for (std::size_t head = 0; head < n_heads_; ++head) {
      GatheredRows cached = {.data = step.kv + head * d_head_,
                             .stride = 2 * d_model,
                             .rows = row.keys.data(),
                             .count = count,
                             .columns = d_head_};
      run.dot_rows(cached, &q(i, head * d_head_), weights);
      const float share = count > 0 ? 1.0f / run.exponentials(weights, count, scale) : 0.0f;
      cached.data += d_model;
      float* const mixed = &context(i, head * d_head_);
      run.sum_rows(cached, weights, mixed);
      run.scale(mixed, mixed, d_head_, share);
      if (row.weights != nullptr) {
        run.scale(row.weights + (step.layer * n_heads_ + head) * count, weights, count, share);
      }
    }
  }

  for (std::size_t head : step.ablated) {
    for (std::size_t i = 0; i < n; ++i) {
      std::fill_n(&context(i, head * d_head_), d_head_, 0.0f);
    }
  }
  out_proj_(const_view(context), x, workspace, Epilogue::accumulate);
}

}  // namespace glassformer
