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

/// Scratch buffers for one head's integer attention; they grow as needed.
struct IntegerAttentionScratch {
  std::vector<std::int16_t> rounded;  // [length, d_head] queries, keys or values
  PackedInt16Matrix keys;             // [d_head, keys]
  PackedInt16Matrix values;           // [keys, d_head]
  std::vector<std::int32_t> scores;   // [query_rows, longest padded to whole panels]
  std::vector<std::int16_t> weights;  // same shape as scores
  std::vector<std::int32_t> context;  // [query_rows, d_head padded to whole panels]

  void reserve(std::size_t scores_size, std::size_t context_size);
};

/// Scratch buffers for one head's linear attention; they grow as needed.
struct LinearAttentionScratch {
  std::vector<float> features;  // [keys, d_head]
  std::vector<float> values;    // [keys, d_head + 1]
  std::vector<float> state;     // [d_head, d_head + 1]
  std::vector<float> query;     // [2 d_head + 1]

  void reserve(std::size_t keys, std::size_t d_head);
};

/// The sizes of the activations of a stack.
struct WorkspaceShape {
  std::size_t d_model;
  std::size_t d_heads;   ///< d_head of all heads together, E
  std::size_t d_hidden;  ///< of the feed-forward block, before its activation
};

/// The activations of one forward pass, allocated once and reused: they grow to the largest request
/// and never shrink. One per model, one request at a time.
struct Workspace {
  /// Rows that pass through the feed-forward block together. Its weights, two thirds of a layer's,
  /// are read once per block of rows.
  static constexpr std::size_t feed_forward_rows = 144;
  /// Queries that attend together, and rows that a linear layer quantizes together.
  static constexpr std::size_t query_rows = 48;
  static constexpr std::size_t quantized_block = 48;

  explicit Workspace(const WorkspaceShape& shape);

  /// Reserves memory for `tokens` rows in all and a longest sequence of `longest`.
  void reserve(std::size_t tokens, std::size_t longest);

  /// Reserves memory in `scores` for one row of `count` keys.
  void reserve_keys(std::size_t count) {
    if (count > scores.size()) reserve(0, count);
  }

  /// Returns a buffer for a block of quantized rows of `columns`, at most the largest of
  /// D, E and F.
  QuantizedRows quantized_rows(std::size_t columns);

  /// Returns the first `count` rows of `traced`.
  View<2> room_to_trace(std::size_t count);

  Tensor<2> states;     // [N, D] the residual stream
  Tensor<2> normed;     // [N, D]
  Tensor<2> qkv;        // [N, 3 E] queries, keys and values of each row
  Tensor<2> context;    // [N, E] the outputs of all heads
  Tensor<2> hidden;     // [feed_forward_rows, F]
  Tensor<2> traced;     // [N, D] the output of a sublayer, if it is traced; otherwise empty
  Tensor<2> scores;     // [query_rows, longest padded to whole panels]
  AlignedBuffer bias;   // [longest padded to whole panels] added to a query's scores
  PackedMatrix keys;    // one head's [d_head, keys]
  PackedMatrix values;  // one head's [keys, d_head]
  IntegerAttentionScratch integer_attention;
  LinearAttentionScratch linear_attention;

 private:
  std::vector<std::byte> quantized_;  // [quantized_block, the largest of D, E and F]
  std::array<float, quantized_block> scales_;
  std::array<std::int32_t, quantized_block> zero_points_;
};

}  // namespace glassformer
