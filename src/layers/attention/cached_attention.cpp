#include "layers/attention/cached_attention.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace glassformer {

namespace {

// Where scores or weights are asked for, writes row · scale there; where they are replaced there,
// row becomes what they are now, and scale 1.
void show(const HeadMap& map, float* row, float& scale) {
  if (!map.data) return;
  kernels().scale(map.data, row, map.keys, scale);
  if (!map.replace(0)) return;
  std::copy_n(map.data, map.keys, row);
  scale = 1.0f;
}

}  // namespace

void attend_cached(const AttentionShape& shape, const Queries& queries, const CachedRows& cache,
                   View<2> context, const Run& run) {
  const Kernels& kernel = kernels();
  const WritingKernels& writing = writing_kernels();
  const std::size_t d_head = shape.d_head, d_heads = shape.d_heads();
  float* weights = run.workspace.scores.data();  // [keys] of one row and head
  for (std::size_t i = 0; i < context.shape(0); ++i) {
    const AttentionRow& row = cache.rows[i];
    const std::size_t count = row.keys.size();
    const MapShape map = {shape.n_heads, 1, count};
    const MapOutput scores_out = run.map(MapKind::scores, i, map);
    const MapOutput weights_out = run.map(MapKind::weights, i, map);
    for (std::size_t head = 0; head < shape.n_heads; ++head) {
      GatheredRows cached = {.data = cache.kv + head * d_head,
                             .stride = 2 * d_heads,
                             .rows = row.keys.data(),
                             .count = count,
                             .columns = d_head};
      writing.dot_rows(cached, queries.data + i * queries.stride + head * d_head, weights);
      float scale = 1.0f / shape.divisor;
      if (cache.relative) {
        kernel.scale(weights, weights, count, scale);
        const float* const bias = cache.relative->of(head, count) - (count - 1);
        kernel.add_scaled(weights, bias, count, 1.0f);
        scale = 1.0f;
      }
      show(scores_out.head(head), weights, scale);
      const float sum = count > 0 ? kernel.exponentials(weights, count, scale) : 0.0f;
      float share = sum == 0.0f ? 0.0f : 1.0f / sum;
      show(weights_out.head(head), weights, share);
      cached.data += d_heads;
      float* const mixed = &context(i, head * d_head);
      writing.sum_rows(cached, weights, mixed);
      kernel.scale(mixed, mixed, d_head, share);
      if (row.weights != nullptr) {
        const std::size_t kept = (run.step->layer * shape.n_heads + head) * count;
        kernel.scale(row.weights + kept, weights, count, share);
      }
    }
  }
}

}  // namespace glassformer
