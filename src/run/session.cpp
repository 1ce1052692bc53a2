#include "run/session.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

void AttentionScratch::reserve(std::size_t longest) {
  const std::size_t width = kernels().panel_width;
  const std::size_t padded = (longest + width - 1) / width * width;
  if (padded <= scores.shape(1)) return;
  scores = Tensor::from_shape({query_rows, 0});
  checked_product("attention scores", {query_rows, padded});
  scores = Tensor::from_shape({query_rows, padded});
  bias.resize(padded);
}

void LinearAttentionScratch::reserve(std::size_t keys, std::size_t d_head) {
  const auto grow = [](std::vector<float>& buffer, std::size_t size) {
    if (size > buffer.size()) buffer.resize(size);
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

void Session::reserve_attention(std::size_t longest) {
  for (AttentionScratch& scratch : attention_) scratch.reserve(longest);
}

GrowingTable& Session::table(const void* layer) {
  for (const auto& [owner, table] : tables_) {
    if (owner == layer) return *table;
  }
  return *tables_.emplace_back(layer, std::make_unique<GrowingTable>()).second;
}

}  // namespace glassformer
