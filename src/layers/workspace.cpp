#include "layers/workspace.hpp"

#include <algorithm>

#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

// Frees first, so that old and new never lie side by side; if memory runs out, the matrix is empty.
void renew(Tensor<2>& matrix, std::size_t rows, std::size_t columns) {
  checked_product("activations", {rows, columns});
  matrix = Tensor<2>::from_shape({0, columns});
  matrix = Tensor<2>::from_shape({rows, columns});
}

}  // namespace

Workspace::Workspace(std::size_t d_model, std::size_t d_ff)
    : states({0, d_model}),
      normed({0, d_model}),
      qkv({0, 3 * d_model}),
      context({0, d_model}),
      hidden({feed_forward_rows, d_ff}),
      scores({query_rows, 0}),
      quantised_(quantised_block * kernels().quantised_row_bytes(std::max(d_model, d_ff))) {}

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
  }
}

void IntegerAttention::reserve(std::size_t scores_size, std::size_t context_size) {
  if (scores_size > scores.size()) scores.resize(scores_size);
  if (scores_size > weights.size()) weights.resize(scores_size);
  if (context_size > context.size()) context.resize(context_size);
}

QuantisedRows Workspace::quantised_rows(std::size_t columns) {
  return {.values = quantised_.data(),
          .stride = kernels().quantised_row_bytes(columns),
          .scales = scales_.data(),
          .zero_points = zero_points_.data()};
}

}  // namespace glassformer
