#include "layers/attention/cross_attention.hpp"

#include "layers/attention/cached_attention.hpp"

namespace glassformer {

CrossAttention::CrossAttention(const AttentionShape& shape, Compute compute)
    : shape_(shape),
      q_proj_(shape.d_model, shape.d_heads(), compute),
      kv_proj_(shape.d_model, 2 * shape.d_heads(), compute),
      out_proj_(shape.d_heads(), shape.d_model, compute) {}

void CrossAttention::declare(const ParameterScope& scope) {
  const std::size_t d_heads = shape_.d_heads();
  q_proj_.declare(scope.scope("q_proj"), shape_.bias);
  kv_proj_.declare(scope.scope("k_proj"), 0, d_heads, shape_.bias);
  kv_proj_.declare(scope.scope("v_proj"), d_heads, d_heads, shape_.bias);
  out_proj_.declare(scope.scope("out_proj"), shape_.bias);
}

void CrossAttention::keys_values(const ConstView<2>& input, View<2> kv, const Run& run) const {
  const std::size_t d_heads = shape_.d_heads();
  kv_proj_(input, kv, run.workspace);
  const CompleteRows keys = {.data = kv.data(),
                             .first = 0,
                             .count = kv.shape(0),
                             .columns = d_heads,
                             .stride = 2 * d_heads,
                             .heads = shape_.n_heads};
  run.see("k", keys);
  CompleteRows values = keys;
  values.data += d_heads;
  run.see("v", values);
}

void CrossAttention::add_to(View<2> x, const ConstView<2>& input, const Run& run) const {
  const std::size_t n = x.shape(0), d_heads = shape_.d_heads();
  View<2> q = view<2>(run.workspace.qkv.data(), {n, d_heads});  // [R, E]
  View<2> context = rows(run.workspace.context, 0, n);          // [R, E]
  q_proj_(input, q, run.workspace);
  CompleteRows seen = {.data = q.data(),
                       .first = 0,
                       .count = n,
                       .columns = d_heads,
                       .stride = d_heads,
                       .heads = shape_.n_heads};
  run.see("q", seen);
  attend_cached(shape_, {q.data(), d_heads}, run.step->encoder_attn, context, run);
  seen.data = context.data();
  run.see("context", seen);
  out_proj_.add_to(x, const_view(context), run, "output");
}

}  // namespace glassformer
