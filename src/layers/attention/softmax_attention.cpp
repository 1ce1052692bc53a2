#include "layers/attention/softmax_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/kernels.hpp"
#include "layers/attention/disentangled/distance_scores.hpp"
#include "layers/attention/query_blocks.hpp"
#include "layers/attention/rounded_rows.hpp"

namespace glassformer {
namespace {

// If weights are requested, writes a query's weights, row · share over `keys`, to their positions
// in the map. `scale` is the kernel for rows of this type.
template <typename Weight>
void write_weights(const HeadInput& in, const HeadOutput& out, const QueryBlock& block,
                   std::size_t query, KeyRange keys, const Weight* row, float share,
                   void (*scale)(float*, const Weight*, std::size_t, float)) {
  if (!out.weights.data) return;
  float* const weights = out.weights.row(block.first + query).data();
  if (in.keys.size() == out.weights.keys) {
    scale(weights + block.origin + keys.begin, row + keys.begin, keys.end - keys.begin, share);
    return;
  }
  for (std::size_t j = keys.begin; j < keys.end; ++j) {
    weights[in.keys[block.origin + j]] = static_cast<float>(row[j]) * share;
  }
}

// Does the same for its scores, before the softmax.
template <typename Score>
void write_scores(const HeadInput& in, const HeadOutput& out, const QueryBlock& block,
                  std::size_t query, KeyRange keys, const Score* row, float scale) {
  if (!out.scores.data) return;
  const std::span<float> scores = out.scores.row(block.first + query);
  for (std::size_t j = keys.begin; j < keys.end; ++j) {
    scores[in.keys[block.origin + j]] = static_cast<float>(row[j]) * scale;
  }
}

// If a patch replaces a query's scores or weights, which were just written as row · scale, copies
// the new values to `row` and sets scale to 1. A row that its patch does not change keeps every
// bit. Keys that the query does not attend to stay masked.
void apply_patch(const HeadInput& in, const HeadMap& map, const QueryBlock& block,
                 std::size_t query, KeyRange keys, float* row, float& scale) {
  if (!map.replace(block.first + query)) return;
  const std::span<float> replaced = map.row(block.first + query);
  for (std::size_t j = keys.begin; j < keys.end; ++j) row[j] = replaced[in.keys[block.origin + j]];
  scale = 1.0f;
  std::fill(replaced.begin(), replaced.end(), map.unseen);
  for (std::size_t j = keys.begin; j < keys.end; ++j) replaced[in.keys[block.origin + j]] = row[j];
}

// The largest integers for values: in sums over `summed_keys` keys, products with weights stay
// within 31 bits.
constexpr std::size_t summed_keys = 256;
constexpr float largest_value =
    static_cast<float>((1u << 31) / (Kernels::weight_unit * summed_keys) - 1);

// The float version of Kernels::weigh: weights [n] = e^(scores - the largest) in whole units.
std::int32_t weigh_floats(float* scores, std::size_t n, std::int16_t* weights) {
  const Kernels& run = kernels();
  run.exponentials(scores, n, 1.0f);
  const GatheredRows row = {.data = scores, .stride = n, .count = 1, .columns = n};
  run.round_rows(row, static_cast<float>(Kernels::weight_unit), weights);
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += weights[j];
  return sum;
}

}  // namespace

void softmax_attention(const HeadInput& in, const HeadOutput& out, Reach reach,
                       AttentionScratch& scratch) {
  const Kernels& run = kernels();
  PackedMatrix& keys = scratch.keys;
  PackedMatrix& values = scratch.values;
  pack_keys(in, keys);
  pack_values(in, values);
  if (in.distances.table) begin_distance_scores(in, scratch);

  const std::size_t stride = scratch.scores.shape(1);
  each_block(in, reach, [&](const QueryBlock& block) {
    // scores [queries, keys] = q · kᵀ
    run.matmul({.a = in.q + block.first * in.q_stride,
                .a_stride = in.q_stride,
                .b = keys.data() + block.origin / run.panel_width * keys.panel_stride(),
                .panel_stride = keys.panel_stride(),
                .c = scratch.scores.data(),
                .c_stride = stride,
                .m = block.queries,
                .n = block.keys,
                .k = in.d_head});

    if (in.distances.table) multiply_by_distances(in, block, scratch);

    std::array<float, AttentionScratch::query_rows> shares;  // 1 / the sum of a row's exponentials
    for (std::size_t i = 0; i < block.queries; ++i) {
      float* row = scratch.scores.data() + i * stride;
      const auto [begin, end] = keys_of(in, block, i, reach);
      float scale = 1.0f / in.divisor;
      if (in.biased()) {
        write_bias(in, block, i, {begin, end}, scratch, scratch.bias.data());
        run.scale(row + begin, row + begin, end - begin, scale);
        run.add_scaled(row + begin, scratch.bias.data(), end - begin, 1.0f);
        scale = 1.0f;
      }
      cap_scores(in.cap, row + begin, end - begin, scale);
      write_scores(in, out, block, i, {begin, end}, row, scale);
      apply_patch(in, out.scores, block, i, {begin, end}, row, scale);
      const float sum = begin < end ? run.exponentials(row + begin, end - begin, scale) : 0.0f;
      shares[i] = sum == 0.0f ? 0.0f : 1.0f / sum;
      std::fill(row, row + begin, 0.0f);
      std::fill(row + end, row + block.keys, 0.0f);
      write_weights(in, out, block, i, {begin, end}, row, shares[i], run.scale);
      apply_patch(in, out.weights, block, i, {begin, end}, row, shares[i]);
    }

    // context [queries, d_head] = weights · v
    run.matmul({.a = scratch.scores.data(),
                .a_stride = stride,
                .b = values.data() + block.origin * run.panel_width,
                .panel_stride = values.panel_stride(),
                .c = out.context + block.first * out.stride,
                .c_stride = out.stride,
                .m = block.queries,
                .n = in.d_head,
                .k = block.keys});
    for (std::size_t i = 0; i < block.queries; ++i) {
      float* context = out.context + (block.first + i) * out.stride;
      run.scale(context, context, in.d_head, shares[i]);
    }
  });
}

void integer_softmax_attention(const HeadInput& in, const HeadOutput& out, Reach reach,
                               AttentionScratch& scratch) {
  const Kernels& run = kernels();
  IntegerAttentionScratch& buffers = scratch.integer;
  const std::size_t width = run.panel_width;
  const std::size_t row_length = PackedInt16Matrix::even(in.d_head);
  const std::size_t padded_head = (in.d_head + width - 1) / width * width;
  const std::size_t stride = scratch.scores.shape(1);
  buffers.reserve(AttentionScratch::query_rows * stride,
                  AttentionScratch::query_rows * padded_head);

  const auto rows_of = [&](const float* data, std::span<const std::uint32_t> rows) {
    return GatheredRows{data, in.kv_stride, rows.data(), rows.size(), in.d_head};
  };
  const float limit = largest_factor(in.d_head);
  const float k_scale = round_to(limit, rows_of(in.k, in.keys), buffers.rounded);
  buffers.keys.pack_transposed(buffers.rounded.data(), in.d_head, in.keys.size());
  const float v_scale = round_to(largest_value, rows_of(in.v, in.keys), buffers.rounded);
  buffers.values.pack(buffers.rounded.data(), in.keys.size(), in.d_head);
  const float q_scale =
      round_to(limit, {in.q, in.q_stride, nullptr, in.queries, in.d_head}, buffers.rounded);
  const float scale = q_scale * k_scale / in.divisor;
  const float factor = scale * std::numbers::log2e_v<float>;
  if (in.distances.table) begin_integer_distance_scores(in, k_scale, scratch);
  const float one = 1.0f + factor * 0.0f;  // NaN if the scores' scale is not finite

  each_block(in, reach, [&](const QueryBlock& block) {
    // scores [queries, keys] = q · kᵀ
    run.matmul_int16(
        {.a = buffers.rounded.data() + block.first * row_length,
         .a_stride = row_length,
         .b = buffers.keys.data(0) + block.origin / width * buffers.keys.panel_stride(),
         .panel_stride = buffers.keys.panel_stride(),
         .c = buffers.scores.data(),
         .c_stride = stride,
         .m = block.queries,
         .n = block.keys,
         .k = row_length});

    if (in.distances.table) multiply_integers_by_distances(in, block, q_scale, scratch);

    std::array<float, AttentionScratch::query_rows> shares;  // 1 / the sum of a row's weights
    for (std::size_t i = 0; i < block.queries; ++i) {
      std::int16_t* row = buffers.weights.data() + i * stride;
      const auto [begin, end] = keys_of(in, block, i, reach);
      const std::int32_t* const scores = buffers.scores.data() + i * stride;
      std::int32_t sum = 0;
      if (!in.biased()) {
        write_scores(in, out, block, i, {begin, end}, scores, scale);
        if (begin < end) sum = run.weigh(scores + begin, end - begin, factor, row + begin);
      } else {
        float* const biased = scratch.bias.data();  // [block.keys], from `begin` on
        write_bias(in, block, i, {begin, end}, scratch, biased + begin);
        run.add_scaled_integers(biased + begin, scores + begin, end - begin, scale);
        write_scores(in, out, block, i, {begin, end}, biased, 1.0f);
        if (begin < end) sum = weigh_floats(biased + begin, end - begin, row + begin);
      }
      shares[i] = begin < end ? one / static_cast<float>(sum) : 0.0f;
      std::fill(row, row + begin, std::int16_t{0});
      std::fill(row + end, row + PackedInt16Matrix::even(block.keys), std::int16_t{0});
      write_weights(in, out, block, i, {begin, end}, row, shares[i], run.scale_integers);
    }

    // context [queries, d_head] = weights · v
    for (std::size_t i = 0; i < block.queries; ++i) {
      std::fill_n(out.context + (block.first + i) * out.stride, in.d_head, 0.0f);
    }
    for (std::size_t first = 0; first < block.keys; first += summed_keys) {
      const std::size_t count = std::min(summed_keys, block.keys - first);
      run.matmul_int16({.a = buffers.weights.data() + first,
                        .a_stride = stride,
                        .b = buffers.values.data(block.origin + first),
                        .panel_stride = buffers.values.panel_stride(),
                        .c = buffers.context.data(),
                        .c_stride = padded_head,
                        .m = block.queries,
                        .n = in.d_head,
                        .k = PackedInt16Matrix::even(count)});
      for (std::size_t i = 0; i < block.queries; ++i) {
        run.add_scaled_integers(out.context + (block.first + i) * out.stride,
                                buffers.context.data() + i * padded_head, in.d_head,
                                v_scale * shares[i]);
      }
    }
  });
}

}  // namespace glassformer
