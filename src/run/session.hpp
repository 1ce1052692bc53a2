#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/packed/int16_matrix.hpp"
#include "kernels/packed/matrix.hpp"
#include "kernels/pool.hpp"
#include "run/arena.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Buffers of one head's attention in integers; they grow as needed.
struct IntegerAttentionScratch {
  std::vector<std::int16_t> rounded;  // [length, d_head] queries, keys or values
  PackedInt16Matrix keys;             // [d_head, keys]
  PackedInt16Matrix values;           // [keys, d_head]
  std::vector<std::int32_t> scores;   // [query_rows, longest, padded to whole panels]
  std::vector<std::int16_t> weights;  // the same
  std::vector<std::int32_t> context;  // [query_rows, d_head padded to whole panels]

  void reserve(std::size_t scores_size, std::size_t context_size);
};

/// Buffers of one head's linear attention; they grow as needed.
struct LinearAttentionScratch {
  std::vector<float> features;  // [keys, d_head]
  std::vector<float> values;    // [keys, d_head + 1]
  std::vector<float> state;     // [d_head, d_head + 1]
  std::vector<float> query;     // [2 d_head + 1]

  void reserve(std::size_t keys, std::size_t d_head);
};

/// Buffers of one head's disentangled attention; they grow as needed.
struct DistanceScratch {
  PackedMatrix keys;       // [d_head, distances] of distances
  AlignedBuffer by_query;  // [query_rows, distances] queries times keys of distances
  AlignedBuffer by_key;    // [distances, keys] queries of distances times keys
  // In integers: rows of distances, sums of products, and `keys` with its scale.
  std::vector<std::int16_t> rounded;
  std::vector<std::int32_t> integers;
  PackedInt16Matrix integer_keys;
  float scale = 0;
};

/// Buffers of one head's attention.
struct AttentionScratch {
  /// Queries that attend together, so that their scores stay in the cache.
  static constexpr std::size_t query_rows = 48;

  AttentionScratch() : scores({query_rows, 0}) {}

  /// Grows the buffers for queries with up to `longest` keys.
  void reserve(std::size_t longest);

  Tensor scores;        // [query_rows, longest, padded to whole panels]
  AlignedBuffer bias;   // [longest, padded to whole panels] added to a query's scores
  PackedMatrix keys;    // [d_head, keys]
  PackedMatrix values;  // [keys, d_head]
  IntegerAttentionScratch integer;
  LinearAttentionScratch linear;
  DistanceScratch distances;
};

/// A table that a layer extends when a longer sequence comes.
struct GrowingTable {
  AlignedBuffer values;
  std::size_t rows = 0;
  std::vector<std::pair<double, double>> state;  // from which the next row is computed
};

class DecodingState;

/// Everything that a call changes. A model itself is const, and any number of sessions may use one
/// at a time; a session serves one call at a time.
class Session {
 public:
  /// `threads` share the work. They must outlive the session, and stay as many.
  explicit Session(Pool& threads = Pool::single()) : pool(threads), attention_(threads.threads()) {}

  Arena arena;
  Pool& pool;
  Tensor logits = Tensor::from_shape({0, 0});  ///< [rows, V] of a language model

  /// Returns the buffers of one of the pool's threads.
  AttentionScratch& attention(std::size_t thread = 0) { return attention_[thread]; }
  /// Grows the buffers of all threads for queries with up to `longest` keys.
  void reserve_attention(std::size_t longest);

  /// Returns the table of the layer at this address; a new one is empty. No other layer may take
  /// that address later: a session serves only models that live as long as it does.
  GrowingTable& table(const void* layer);
  /// Forgets all tables, some of which are computed from a model's weights.
  void forget_tables() {
    tables_.clear();
    kept.reset();
  }

  /// The decoding of an earlier call, from which a later one may go on. May be null.
  std::shared_ptr<DecodingState> kept;

 private:
  std::vector<AttentionScratch> attention_;  // per thread
  std::vector<std::pair<const void*, std::unique_ptr<GrowingTable>>> tables_;
};

}  // namespace glassformer
