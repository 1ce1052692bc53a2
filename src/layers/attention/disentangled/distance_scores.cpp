#include "layers/attention/disentangled/distance_scores.hpp"

namespace glassformer {
namespace {

void reserve(AlignedBuffer& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

void begin_distance_scores(const HeadInput& in, AttentionScratch& scratch) {
  const HeadDistances& distances = in.distances;
  DistanceScratch& products = scratch.distances;
  const PackedMatrix& keys = scratch.keys;
  if (distances.q) {
    reserve(products.by_key, distances.count * keys.n());
    kernels().matmul({.a = distances.q,
                      .a_stride = distances.stride,
                      .b = keys.data(),
                      .panel_stride = keys.panel_stride(),
                      .c = products.by_key.data(),
                      .c_stride = keys.n(),
                      .m = distances.count,
                      .n = keys.n(),
                      .k = in.d_head});
  }
  if (!distances.k) return;
  products.keys.reshape(in.d_head, distances.count);
  for (std::size_t row = 0; row < distances.count; ++row) {
    products.keys.set_column(row, {distances.k + row * distances.stride, in.d_head});
  }
  reserve(products.by_query, AttentionScratch::query_rows * distances.count);
}

void multiply_by_distances(const HeadInput& in, const QueryBlock& block,
                           AttentionScratch& scratch) {
  if (!in.distances.k) return;
  DistanceScratch& products = scratch.distances;
  kernels().matmul({.a = in.q + block.first * in.q_stride,
                    .a_stride = in.q_stride,
                    .b = products.keys.data(),
                    .panel_stride = products.keys.panel_stride(),
                    .c = products.by_query.data(),
                    .c_stride = in.distances.count,
                    .m = block.queries,
                    .n = in.distances.count,
                    .k = in.d_head});
}

void write_bias(const HeadInput& in, const QueryBlock& block, std::size_t query, KeyRange keys,
                const AttentionScratch& scratch, float* bias) {
  if (in.bias) return copy_bias(in, block, query, keys, bias);
  const HeadDistances& distances = in.distances;
  const AlignedBuffer &by_query = scratch.distances.by_query, &by_key = scratch.distances.by_key;
  const std::size_t stride = in.keys.size();
  const float scale = 1.0f / in.divisor;
  for (std::size_t j = keys.begin; j < keys.end; ++j) {
    const std::size_t key = block.origin + j;
    const std::size_t row = distances.row(block.first + query, in.keys[key]);
    float sum = 0;
    if (distances.k) sum += by_query[query * distances.count + row];
    if (distances.q) sum += by_key[row * stride + key];
    *bias++ = sum * scale;
  }
}

}  // namespace glassformer
