#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/kernels.hpp"
#include "layers/attention/attention_kind.hpp"

namespace glassformer {

/// Indices [begin, end) into the visible positions.
struct KeyRange {
  std::size_t begin, end;
};

inline KeyRange keys_near(std::span<const std::uint32_t> visible, std::size_t first_query,
                          std::size_t last_query, Reach reach) {
  if (visible.empty() || (reach.before >= last_query && reach.behind >= visible.back())) {
    return {0, visible.size()};
  }
  const std::size_t lowest = first_query > reach.before ? first_query - reach.before : 0;
  const std::size_t highest =
      reach.behind >= visible.back() ? visible.back() : last_query + reach.behind;
  const auto begin = std::lower_bound(visible.begin(), visible.end(), lowest);
  const auto end = std::upper_bound(begin, visible.end(), highest);
  return {static_cast<std::size_t>(begin - visible.begin()),
          static_cast<std::size_t>(end - visible.begin())};
}

/// A block of queries, and the keys that any of them may attend to, starting at the first key of a
/// panel.
struct QueryBlock {
  std::size_t first, queries;  // of the sequence
  std::size_t origin, keys;    // of the visible keys
};

/// Calls attend(block) for every block of queries.
template <typename Attend>
void each_block(const HeadInput& in, Reach reach, const Attend& attend) {
  const std::size_t width = kernels().panel_width;
  for (std::size_t first = 0; first < in.queries; first += AttentionScratch::query_rows) {
    const std::size_t queries = std::min(AttentionScratch::query_rows, in.queries - first);
    const KeyRange keys = keys_near(in.keys, first, first + queries - 1, reach);
    const std::size_t origin = keys.begin / width * width;
    attend(QueryBlock{first, queries, origin, keys.end - origin});
  }
}

/// Returns the keys of one query of a block, relative to the block's first key.
inline KeyRange keys_of(const HeadInput& in, const QueryBlock& block, std::size_t query,
                        Reach reach) {
  const KeyRange near = keys_near(in.keys, block.first + query, block.first + query, reach);
  return {near.begin - block.origin, near.end - block.origin};
}

/// Copies the bias of each of a query's keys to bias [keys].
inline void copy_bias(const HeadInput& in, const QueryBlock& block, std::size_t query,
                      KeyRange keys, float* bias) {
  const float* const by_key = in.bias - (block.first + query);  // in.bias[key - query]
  const std::span<const std::uint32_t> visible =
      in.keys.subspan(block.origin + keys.begin, keys.end - keys.begin);
  std::ranges::transform(visible, bias, [&](std::uint32_t key) { return by_key[key]; });
}

/// Caps n scores, which are row · scale: they become cap · tanh(score / cap), in the same form.
inline void cap_scores(float cap, float* row, std::size_t n, float& scale) {
  if (cap == 0.0f) return;
  kernels().scale(row, row, n, scale / cap);
  kernels().activate(Activation::tanh, row, n);
  scale = cap;
}

/// Packs one head's visible keys for the matrix product. Masked positions are left out here, so the
/// code below need not handle them.
inline void pack_keys(const HeadInput& in, PackedMatrix& keys) {
  keys.reshape(in.d_head, in.keys.size());
  for (std::size_t j = 0; j < in.keys.size(); ++j) {
    keys.set_column(j, {in.k + in.keys[j] * in.kv_stride, in.d_head});
  }
}

inline void pack_values(const HeadInput& in, PackedMatrix& values) {
  values.reshape(in.keys.size(), in.d_head);
  for (std::size_t j = 0; j < in.keys.size(); ++j) {
    values.set_row(j, {in.v + in.keys[j] * in.kv_stride, in.d_head});
  }
}

}  // namespace glassformer
