#include "layers/attention/row_attention.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "layers/attention/query_blocks.hpp"

namespace glassformer {
namespace {

// Writes row · scale to the map, if it is requested. If a patch replaces it, copies the patched
// values to `row` and sets scale to 1. The row begins with key `first`; keys before it stay masked.
void trace_row(const HeadMap& map, std::size_t first, std::span<float> row, float& scale) {
  if (!map.data) return;
  kernels().scale(map.data + first, row.data(), row.size(), scale);
  if (!map.replace(0)) return;
  std::fill_n(map.data, first, map.unseen);
  std::copy_n(map.data + first, row.size(), row.begin());
  scale = 1.0f;
}

}  // namespace

void attend_rows(const RowAttention& attention, const Run& run) {
  const Kernels& kernel = kernels();
  const WritingKernels& writing = writing_kernels();
  const AttentionConfig& config = attention.config;
  const std::size_t d_head = config.d_head, shared = config.n_heads / config.n_kv_heads;
  Session& session = run.session();
  for (std::size_t i = 0; i < attention.segments.size(); ++i) {
    const RowSegment& segment = attention.segments[i];
    const MapShape map = {config.n_heads, segment.count, segment.key_positions};
    const MapOutput scores_out = run.map(MapKind::scores, i, map);
    const MapOutput weights_out = run.map(MapKind::weights, i, map);
    if (segment.count == 0) continue;
    const std::size_t all = segment.keys.size();
    const std::size_t count = attention.window > 0 ? std::min(all, attention.window + 1) : all;
    const std::size_t first = all - count;  // the first key within the window
    if (attention.relative) attention.relative->reserve(count, session);  // not in the threads
    const auto attend = [&](std::size_t head, std::size_t thread) {
      float* const weights = session.attention(thread).scores.data();  // [keys]
      const std::size_t key_head = head / shared * d_head;
      GatheredRows gathered = {.data = attention.keys.k + key_head,
                               .stride = attention.keys.stride,
                               .rows = segment.keys.data() + first,
                               .count = count,
                               .columns = d_head};
      const float* const q = attention.queries + segment.first * attention.stride + head * d_head;
      writing.dot_rows(gathered, q, weights);
      float scale = 1.0f / attention.divisor;
      if (attention.relative) {
        kernel.scale(weights, weights, count, scale);
        const float* const by_key = attention.relative->of(head, count, session) - (count - 1);
        kernel.add_scaled(weights, by_key, count, 1.0f);
        scale = 1.0f;
      }
      cap_scores(config.score_cap.value_or(0.0f), weights, count, scale);
      trace_row(scores_out.head(head), first, {weights, count}, scale);
      const float sum = count > 0 ? kernel.exponentials(weights, count, scale) : 0.0f;
      float share = sum == 0.0f ? 0.0f : 1.0f / sum;
      trace_row(weights_out.head(head), first, {weights, count}, share);
      gathered.data = attention.keys.v + key_head;
      View context = attention.context;
      float* const mixed = &context(segment.first, head * d_head);
      writing.sum_rows(gathered, weights, mixed);
      kernel.scale(mixed, mixed, d_head, share);
    };
    session.pool.each(config.n_heads, std::uint64_t{2} * config.d_heads() * count, attend);
  }
}

}  // namespace glassformer
