#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tensor/sizes.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Keys and values that decoding steps attend to, for all heads together. Each node of the
/// hypothesis tree and each source token has one row [2 E] with both. In a layer with a recurrent
/// unit, a node has its state [D] instead. A node's row keeps its number: when a search reorders
/// hypotheses, only the rows that they read change.
struct KvCache {
  /// Adds a layer with memory for `nodes` nodes of `d_node` columns and for the source's tokens.
  /// Without source tokens, it has memory for one, so that its rows have an address.
  void add(std::size_t nodes, std::size_t d_node, std::size_t source_tokens, std::size_t d_source) {
    self.push_back(matrix(nodes, d_node));
    cross.push_back(matrix(std::max<std::size_t>(source_tokens, 1), d_source));
  }

  /// Grows to `nodes` nodes and keeps the first `used` of them.
  void grow(std::size_t nodes, std::size_t used) {
    for (Tensor& kv : self) {
      Tensor larger = matrix(nodes, kv.shape(1));
      std::copy_n(kv.data(), used * kv.shape(1), larger.data());
      kv = std::move(larger);
    }
  }

  std::vector<Tensor> self;   // [nodes, d_node] for each layer
  std::vector<Tensor> cross;  // [N, 2 E] for each layer

 private:
  static Tensor matrix(std::size_t rows, std::size_t columns) {
    checked_product("keys and values", {rows, columns});
    return Tensor::from_shape({rows, columns});
  }
};

}  // namespace glassformer
