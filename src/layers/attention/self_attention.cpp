#include "layers/attention/self_attention.hpp"

#include <algorithm>

#include "layers/attention/cached_attention.hpp"
#include "linked.hpp"

namespace glassformer {

SelfAttention::SelfAttention(const AttentionShape& shape, std::unique_ptr<const AttentionKind> kind,
                             Compute compute, RelativeBias* relative)
    : shape_(shape),
      compute_(compute),
      kind_(std::move(kind)),
      relative_(relative),
      qkv_proj_(shape.d_model, 3 * shape.d_heads(), compute),
      out_proj_(shape.d_heads(), shape.d_model, compute) {}

void SelfAttention::declare(const ParameterScope& scope) {
  const std::size_t d_heads = shape_.d_heads();
  qkv_proj_.declare(scope.scope("q_proj"), 0, d_heads, shape_.bias);
  qkv_proj_.declare(scope.scope("k_proj"), d_heads, d_heads, shape_.bias);
  qkv_proj_.declare(scope.scope("v_proj"), 2 * d_heads, d_heads, shape_.bias);
  out_proj_.declare(scope.scope("out_proj"), shape_.bias);
}

void SelfAttention::add_to(View<2> x, const ConstView<2>& input, const Run& run) const {
  const std::size_t n = x.shape(0), d_heads = shape_.d_heads();
  View<2> qkv = rows(run.workspace.qkv, 0, n);          // [N, 3 E]
  View<2> context = rows(run.workspace.context, 0, n);  // [N, E]
  qkv_proj_(input, qkv, run.workspace);
  const auto see = [&](const char* name, float* data, std::size_t stride) {
    run.see(name, {.data = data,
                   .first = 0,
                   .count = n,
                   .columns = d_heads,
                   .stride = stride,
                   .heads = shape_.n_heads});
  };
  see("q", qkv.data(), 3 * d_heads);
  see("k", qkv.data() + d_heads, 3 * d_heads);
  see("v", qkv.data() + 2 * d_heads, 3 * d_heads);
  if (links_writers() && run.step) {
    attend_to_cache(qkv, context, run);
  } else {
    attend_within_sequences(qkv, context, run);
  }
  see("context", context.data(), d_heads);
  out_proj_.add_to(x, const_view(context), run, "output");
}

void SelfAttention::attend_within_sequences(View<2> qkv, View<2> context, const Run& run) const {
  const std::size_t d_heads = shape_.d_heads();
  const Sequences& sequences = *run.sequences;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const MapShape map = {shape_.n_heads, sequences.length(s), sequences.length(s)};
    const MapOutput weights = run.map(MapKind::weights, s, map);
    const MapOutput scores = kind_->has_scores() ? run.map(MapKind::scores, s, map) : MapOutput();
    for (std::size_t head = 0; head < shape_.n_heads; ++head) {
      const std::size_t length = sequences.length(s);
      const float* q = &qkv(sequences.start(s), head * shape_.d_head);
      const HeadInput in = {.q = q,
                            .k = q + d_heads,
                            .v = q + 2 * d_heads,
                            .stride = 3 * d_heads,
                            .length = length,
                            .d_head = shape_.d_head,
                            .divisor = shape_.divisor,
                            .compute = compute_,
                            .visible = sequences.visible(s),
                            .bias = relative_ ? relative_->of(head, length) : nullptr};
      const HeadOutput out = {.context = &context(sequences.start(s), head * shape_.d_head),
                              .stride = d_heads,
                              .weights = weights.head(head),
                              .scores = scores.head(head)};
      kind_->attend(in, out, run.workspace);
    }
  }
}

void SelfAttention::attend_to_cache(View<2> qkv, View<2> context, const Run& run) const {
  const std::size_t n = qkv.shape(0), d_heads = shape_.d_heads();
  View<2> own_kv = run.step->own_kv;
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(&qkv(i, d_heads), 2 * d_heads, &own_kv(i, 0));
  }
  CachedRows cache = run.step->self_attn;
  cache.relative = relative_;
  attend_cached(shape_, {qkv.data(), 3 * d_heads}, cache, context, run);
}

}  // namespace glassformer
