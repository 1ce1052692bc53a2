#include "layers/attention/disentangled/distance_scores.hpp"

#include <algorithm>

#include "layers/attention/rounded_rows.hpp"

namespace glassformer {
namespace {

template <class Buffer>
void grow_to(Buffer& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

// Rounds queries or keys of distances to integers. Returns their scale.
float round_distances(const HeadInput& in, const float* rows, DistanceScratch& products) {
  const HeadDistances& distances = in.distances;
  const GatheredRows all = {
      .data = rows, .stride = distances.stride, .count = distances.count, .columns = in.d_head};
  return round_to(largest_factor(in.d_head), all, products.rounded);
}

// A product of integers, a [rows, d_head] · b [d_head, columns] · scale.
struct IntegerProduct {
  const std::int16_t* a;
  const PackedInt16Matrix& b;
  std::size_t rows, columns, d_head;
  float scale;
};

// Writes a product to sums [rows, columns].
void multiply_rounded(const IntegerProduct& product, std::vector<std::int32_t>& integers,
                      float* sums) {
  constexpr std::size_t block = AttentionScratch::query_rows;
  const Kernels& run = kernels();
  const std::size_t columns = product.columns;
  const std::size_t padded = (columns + run.panel_width - 1) / run.panel_width * run.panel_width;
  const std::size_t length = PackedInt16Matrix::even(product.d_head);
  grow_to(integers, block * padded);
  std::fill_n(sums, product.rows * columns, 0.0f);
  for (std::size_t first = 0; first < product.rows; first += block) {
    const std::size_t count = std::min(block, product.rows - first);
    run.matmul_int16({.a = product.a + first * length,
                      .a_stride = length,
                      .b = product.b.data(0),
                      .panel_stride = product.b.panel_stride(),
                      .c = integers.data(),
                      .c_stride = padded,
                      .m = count,
                      .n = columns,
                      .k = length});
    for (std::size_t i = 0; i < count; ++i) {
      run.add_scaled_integers(sums + (first + i) * columns, integers.data() + i * padded, columns,
                              product.scale);
    }
  }
}

}  // namespace

void begin_distance_scores(const HeadInput& in, AttentionScratch& scratch) {
  const HeadDistances& distances = in.distances;
  DistanceScratch& products = scratch.distances;
  const PackedMatrix& keys = scratch.keys;
  if (distances.q) {
    grow_to(products.by_key, distances.count * keys.n());
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
  grow_to(products.by_query, AttentionScratch::query_rows * distances.count);
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

void begin_integer_distance_scores(const HeadInput& in, float k_scale, AttentionScratch& scratch) {
  const HeadDistances& distances = in.distances;
  DistanceScratch& products = scratch.distances;
  const std::size_t keys = in.keys.size();
  if (distances.q) {
    grow_to(products.by_key, distances.count * keys);
    const float scale = k_scale * round_distances(in, distances.q, products);
    multiply_rounded({.a = products.rounded.data(),
                      .b = scratch.integer.keys,
                      .rows = distances.count,
                      .columns = keys,
                      .d_head = in.d_head,
                      .scale = scale},
                     products.integers, products.by_key.data());
  }
  if (!distances.k) return;
  products.scale = round_distances(in, distances.k, products);
  products.integer_keys.pack_transposed(products.rounded.data(), in.d_head, distances.count);
  grow_to(products.by_query, AttentionScratch::query_rows * distances.count);
}

void multiply_integers_by_distances(const HeadInput& in, const QueryBlock& block, float q_scale,
                                    AttentionScratch& scratch) {
  if (!in.distances.k) return;
  DistanceScratch& products = scratch.distances;
  const std::size_t length = PackedInt16Matrix::even(in.d_head);
  multiply_rounded({.a = scratch.integer.rounded.data() + block.first * length,
                    .b = products.integer_keys,
                    .rows = block.queries,
                    .columns = in.distances.count,
                    .d_head = in.d_head,
                    .scale = q_scale * products.scale},
                   products.integers, products.by_query.data());
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
