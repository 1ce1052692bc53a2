#include "run/workspace.hpp"

#include <algorithm>

#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

// Frees the old matrix first, to save memory. If memory runs out, the matrix is empty.
void renew(Tensor<2>& matrix, std::size_t rows, std::size_t columns) {
  checked_product("activations", {rows, columns});
  matrix = Tensor<2>::from_shape({0, columns});
  matrix = Tensor<2>::from_shape({rows, columns});
}

}  // namespace

Workspace::Workspace(const WorkspaceShape& shape)
    : states({0, shape.d_model}),
      normed({0, shape.d_model}),
      qkv({0, 3 * shape.d_heads}),
      context({0, shape.d_heads}),
      hidden({feed_forward_rows, shape.d_hidden}),
      traced({0, shape.d_model}),
      scores({query_rows, 0}),
      quantized_(quantized_block * kernels().quantized_row_bytes(
                                       std::max({shape.d_model, shape.d_heads, shape.d_hidden}))) {}

void Workspace::reserve(std::size_t tokens, std::size_t longest) {
  for (Tensor<2>* matrix : {&states, &normed, &qkv, &context}) {
    if (tokens > matrix->shape(0)) renew(*matrix, tokens, matrix->shape(1));
  }
  const std::size_t width = kernels().panel_width;
  const std::size_t padded = (longest + width - 1) / width * width;
  if (padded > scores.shape(1)) {
    scores = Tensor<2>::from_shape({query_rows, 0});
    checked_product("attention scores", {query_rows, padded});
    scores = Tensor<2>::from_shape({query_rows, padded});
    bias.resize(padded);
  }
}

View<2> Workspace::room_to_trace(std::size_t count) {
  if (count > traced.shape(0)) renew(traced, count, traced.shape(1));
  return rows(traced, 0, count);
}

void LinearAttentionScratch::reserve(std::size_t keys, std::size_t d_head) {
  const auto grow = [](std::vector<float>& room, std::size_t size) {
    if (size > room.size()) room.resize(size);
  };
  grow(features, keys * d_head);
  grow(values, keys * (d_head + 1));
  grow(state, d_head * (d_head + 1));
  grow(query, 2 * d_head + 1);
}

void IntegerAttentionScratch::reserve(std::size_t scores_size, std::size_t context_size) {
  if (scores_size > scores.size()) scores.resize(scores_size);
  if (scores_size > weights.size()) weights.resize(scores_size);
  if (context_size > context.size()) context.resize(context_size);
}

QuantizedRows Workspace::quantized_rows(std::size_t columns) {
  return {.values = quantized_.data(),
          .stride = kernels().quantized_row_bytes(columns),
          .scales = scales_.data(),
          .zero_points = zero_points_.data()};
}

}  // namespace glassformer
