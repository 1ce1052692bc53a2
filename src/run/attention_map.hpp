#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace glassformer {

/// Returns the weights of a new AttentionMap: zeros. Throws `too_large` if memory cannot address
/// that many.
std::vector<float> no_weights(std::size_t layers, std::size_t heads, std::size_t queries,
                              std::size_t keys);

/// The attention weights of one sequence: [layers, heads, queries, keys], row-major. Row i of a
/// head is the distribution of query i's attention over the keys; it sums to 1.
struct AttentionMap {
  std::size_t layers = 0, heads = 0, queries = 0, keys = 0;
  std::vector<float> data = no_weights(layers, heads, queries, keys);

  /// Returns one head's matrix [queries, keys].
  std::span<float> at(std::size_t layer, std::size_t head) {
    return std::span(data).subspan((layer * heads + head) * queries * keys, queries * keys);
  }
  std::span<const float> at(std::size_t layer, std::size_t head) const {
    return std::span(data).subspan((layer * heads + head) * queries * keys, queries * keys);
  }
};

/// The three kinds of attention in a Transformer: the encoder's, the decoder's own, and the
/// decoder's over the encoder's output.
enum class AttentionSite { encoder, decoder, cross };

/// One attention head; layers and heads count from 0.
struct HeadIndex {
  std::size_t layer, head;
  AttentionSite attention = AttentionSite::encoder;
};

}  // namespace glassformer
