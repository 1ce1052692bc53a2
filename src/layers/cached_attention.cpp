#include "layers/cached_attention.hpp"

#include "kernels/kernels.hpp"

namespace glassformer {

void attend_cached(const AttentionShape& shape, const Queries& queries, const CachedRows& cache,
                   View<2> context, const Run& run) {
  const Kernels& kernel = kernels();
  const float scale = 1.0f / shape.divisor;
  const std::size_t d_head = shape.d_head, d_heads = shape.d_heads();
  float* weights = run.workspace.scores.data();  // [keys] of one row and head
  for (std::size_t i = 0; i < context.shape(0); ++i) {
    const AttentionRow& row = cache.rows[i];
    const std::size_t count = row.keys.size();
    for (std::size_t head = 0; head < shape.n_heads; ++head) {
      GatheredRows cached = {.data = cache.kv + head * d_head,
                             .stride = 2 * d_heads,
                             .rows = row.keys.data(),
                             .count = count,
                             .columns = d_head};
      kernel.dot_rows(cached, queries.data + i * queries.stride + head * d_head, weights);
      const std::size_t kept = (run.step->layer * shape.n_heads + head) * count;
      if (row.scores != nullptr) kernel.scale(row.scores + kept, weights, count, scale);
      const float share = count > 0 ? 1.0f / kernel.exponentials(weights, count, scale) : 0.0f;
      cached.data += d_heads;
      float* const mixed = &context(i, head * d_head);
      kernel.sum_rows(cached, weights, mixed);
      kernel.scale(mixed, mixed, d_head, share);
      if (row.weights != nullptr) kernel.scale(row.weights + kept, weights, count, share);
    }
  }
}

}  // namespace glassformer
