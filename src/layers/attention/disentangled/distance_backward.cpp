#include "layers/attention/disentangled/distance_backward.hpp"

#include <algorithm>

#include "kernels/learning.hpp"

namespace glassformer {
namespace {

// A matrix whose rows are `stride` floats apart.
struct StridedMatrix {
  const float* data;
  std::size_t stride, rows, columns;
};

// sum [a.rows, b.n()] += a · b
void add_strided_product(const StridedMatrix& a, const PackedMatrix& b, float* sum,
                         std::size_t stride) {
  kernels().matmul({.a = a.data,
                    .a_stride = a.stride,
                    .b = b.data(),
                    .panel_stride = b.panel_stride(),
                    .c = sum,
                    .c_stride = stride,
                    .m = a.rows,
                    .n = b.n(),
                    .k = a.columns,
                    .epilogue = Epilogue::accumulate});
}

void pack_strided(const StridedMatrix& rows, PackedMatrix& packed) {
  packed.reshape(rows.rows, rows.columns);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    packed.set_row(i, {rows.data + i * rows.stride, rows.columns});
  }
}

// Writes the transposed matrix to `memory`.
StridedMatrix transposed_copy(const StridedMatrix& x, std::vector<float>& memory) {
  memory.resize(x.rows * x.columns);
  learning_kernels().transpose(x.data, x.stride, x.rows, x.columns, memory.data(), x.rows);
  return {memory.data(), x.rows, x.columns, x.rows};
}

}  // namespace

DistanceBackward::DistanceBackward(const HeadInput& in, const HeadGradients& gradients)
    : in_(in), distances_(in.distances), gradients_(gradients) {
  if (distances_.k) by_query_.resize(AttentionScratch::query_rows * distances_.count);
  if (distances_.q) by_key_.resize(distances_.count * in.keys.size());
}

void DistanceBackward::add(const QueryBlock& block, std::size_t query, KeyRange keys,
                           const float* row) {
  const std::size_t count = in_.keys.size();
  for (std::size_t j = keys.begin; j < keys.end; ++j) {
    const std::size_t key = block.origin + j;
    const std::size_t distance = distances_.row(block.first + query, in_.keys[key]);
    if (distances_.k) by_query_[query * distances_.count + distance] += row[j];
    if (distances_.q) by_key_[distance * count + key] += row[j];
  }
}

void DistanceBackward::finish(const QueryBlock& block) {
  if (!distances_.k) return;
  const StridedMatrix products = {by_query_.data(), distances_.count, block.queries,
                                  distances_.count};
  pack_strided({distances_.k, distances_.stride, distances_.count, in_.d_head}, packed_);
  add_strided_product(products, packed_, gradients_.q + block.first * in_.q_stride, in_.q_stride);
  if (gradients_.distance_k) {
    pack_strided({in_.q + block.first * in_.q_stride, in_.q_stride, block.queries, in_.d_head},
                 packed_);
    add_strided_product(transposed_copy(products, transposed_), packed_, gradients_.distance_k,
                        distances_.stride);
  }
  std::ranges::fill(by_query_, 0.0f);
}

void DistanceBackward::finish(const PackedMatrix& keys, float* of_keys) {
  if (!distances_.q) return;
  const std::size_t count = in_.keys.size();
  const StridedMatrix products = {by_key_.data(), count, distances_.count, count};
  if (gradients_.distance_q) {
    add_strided_product(products, keys, gradients_.distance_q, distances_.stride);
  }
  pack_strided({distances_.q, distances_.stride, distances_.count, in_.d_head}, packed_);
  add_strided_product(transposed_copy(products, transposed_), packed_, of_keys, in_.d_head);
}

}  // namespace glassformer
