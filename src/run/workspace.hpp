#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/packed_int16_matrix.hpp"
#include "kernels/packed_matrix.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// What one head's attention in integers works on; grows as needed.
struct IntegerAttentionScratch {
  std::vector<std::int16_t> rounded;  // [length, d_head] queries, keys or values
  PackedInt16Matrix keys;             // [d_head, keys]
  PackedInt16Matrix values;           // [keys, d_head]
  std::vector<std::int32_t> scores;   // [query_rows, longest, padded to whole panels]
  std::vector<std::int16_t> weights;  // the same
  std::vector<std::int32_t> context;  // [query_rows, d_head padded to whole panels]

  void reserve(std::size_t scores_size, std::size_t context_size);
};

/// What one head's linear attention works on; grows as needed.
struct LinearAttentionScratch {
  std::vector<float> features;  // [keys, d_head]
  std::vector<float> values;    // [keys, d_head + 1]
  std::vector<float> state;     // [d_head, d_head + 1]
  std::vector<float> query;     // [2 d_head + 1]

  void reserve(std::size_t keys, std::size_t d_head);
};

/// What the activations of a stack take.
struct WorkspaceShape {
  std::size_t d_model;
  std::size_t d_heads;   ///< all heads' d_head together, E
  std::size_t d_hidden;  ///< of the feed-forward block, before its activation
};

/// The activations of one forward pass, allocated once and reused: it grows to the largest request
/// seen and never shrinks. One per model, one request at a time.
struct Workspace {
  /// Rows that pass through the feed-forward block together: its weights, two thirds of a layer's,
  /// are read once for each such block.
  static constexpr std::size_t feed_forward_rows = 144;
  /// Queries that attend, and rows that a linear layer quantizes, together.
  static constexpr std::size_t query_rows = 48;
  static constexpr std::size_t quantized_block = 48;

  explicit Workspace(const WorkspaceShape& shape);

  /// Makes room for `tokens` rows in all and a longest sequence of `longest`.
  void reserve(std::size_t tokens, std::size_t longest);

  /// Makes room in `scores` for one row of `count` keys.
  void reserve_keys(std::size_t count) {
    if (count > scores.size()) reserve(0, count);
  }

  /// Room for a block of quantized rows of `columns`, at most the largest of D, E and F.
  QuantizedRows quantized_rows(std::size_t columns);

  /// Rows of `traced`.
  View<2> room_to_trace(std::size_t count);

  Tensor<2> states;     // [N, D] what the layers refine
  Tensor<2> normed;     // [N, D]
  Tensor<2> qkv;        // [N, 3 E] queries, keys and values side by side
  Tensor<2> context;    // [N, E] the heads' outputs side by side
  Tensor<2> hidden;     // [feed_forward_rows, F]
  Tensor<2> traced;     // [N, D] what a sublayer adds, where somebody looks at it; else empty
  Tensor<2> scores;     // [query_rows, longest, padded to whole panels]
  AlignedBuffer bias;   // [longest, padded to whole panels] what a query's scores get
  PackedMatrix keys;    // one head's [d_head, keys]
  PackedMatrix values;  // one head's [keys, d_head]
  IntegerAttentionScratch integer_attention;
  LinearAttentionScratch linear_attention;

 private:
  std::vector<std::byte> quantized_;  // [quantized_block, F]
  std::array<float, quantized_block> scales_;
  std::array<std::int32_t, quantized_block> zero_points_;
};

}  // namespace glassformer
