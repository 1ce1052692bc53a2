#pragma once

#include <vector>

#include "layers/attention/attention_backward.hpp"
#include "layers/attention/query_blocks.hpp"

namespace glassformer {

/// The backward of a head's products with distances. The gradients of the products are collected
/// block by block.
class DistanceBackward {
 public:
  DistanceBackward(const HeadInput& in, const HeadGradients& gradients);

  /// Adds the gradients of a query's products with its keys, row[keys.begin] ….
  void add(const QueryBlock& block, std::size_t query, KeyRange keys, const float* row);
  /// Adds to the gradients of a block's queries and of the distances' keys, after all rows.
  void finish(const QueryBlock& block);
  /// Adds to the gradients of the keys, of_keys [keys, d_head], and of the distances' queries.
  /// `keys`: the keys [keys, d_head].
  void finish(const PackedMatrix& keys, float* of_keys);

 private:
  const HeadInput& in_;
  const HeadDistances& distances_;
  const HeadGradients& gradients_;
  std::vector<float> by_query_;  // [query_rows, distances]
  std::vector<float> by_key_;    // [distances, keys]
  std::vector<float> transposed_;
  PackedMatrix packed_;
};

}  // namespace glassformer
