#pragma once

#include <cstddef>
#include <vector>

#include "tensor/tensor.hpp"

namespace glassformer {

/// Keys and values that decoding steps attend to, a row [2 D] of both for each node of the
/// hypothesis tree and for each token of the sources. Rows never move: a search that reorders its
/// hypotheses changes only which rows they read.
struct KvCache {
  KvCache(std::size_t layers, std::size_t d_model, std::size_t nodes, std::size_t source_tokens)
      : self(layers, Tensor<2>::from_shape({nodes, 2 * d_model})),
        cross(layers, Tensor<2>::from_shape({source_tokens, 2 * d_model})) {}

  std::vector<Tensor<2>> self;   // one a layer, [nodes, 2 D]
  std::vector<Tensor<2>> cross;  // one a layer, [N, 2 D]
};

}  // namespace glassformer
