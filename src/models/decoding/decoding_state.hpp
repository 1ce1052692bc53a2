#pragma once

#include <optional>
#include <vector>

#include "models/config.hpp"
#include "models/decoding/hypothesis_tree.hpp"
#include "models/decoding/kv_cache.hpp"
#include "run/trace/step_tracer.hpp"

namespace glassformer {

/// The maximum size of a decoding. Memory is allocated at its start, but at most for these likely
/// sizes. A larger decoding allocates more as it grows.
inline constexpr std::size_t likely_nodes = 2048, likely_positions = 512;

struct DecodingLimits {
  std::size_t nodes;      ///< tokens fed in total, including start tokens
  std::size_t positions;  ///< longest hypothesis, including its start token
  std::size_t rows;       ///< most tokens fed in one step
};

/// The state of decoding a batch of sources: the hypothesis tree, the keys and values of every node
/// and source token, and the attention weights, if requested. For a model without an encoder,
/// sources have no tokens. A model's `begin` creates it, `decode` extends it. Several may exist at
/// the same time.
class DecodingState {
 public:
  /// The session must outlive this. Decodings of one session may alternate but must not run
  /// concurrently.
  DecodingState(const StackConfig& decoder, const Sequences& sources, const DecodingLimits& limits,
                const TraceRequest& request, Session& session);
  DecodingState(DecodingState&&) = default;
  DecodingState& operator=(DecodingState&&) = default;

  /// Forgets all but the first `nodes` nodes, and sets the limits for those that follow. No tensors
  /// may be requested by name.
  void keep_first(std::size_t nodes, const DecodingLimits& limits);

  Session& session() const { return *session_; }
  const DecodingLimits& limits() const { return limits_; }
  const HypothesisTree& tree() const { return tree_; }
  std::size_t sources() const { return source_lengths_.size(); }
  std::size_t source_length(std::size_t source) const { return source_lengths_[source]; }
  bool has_attention() const { return request_.attention; }

  /// Returns the attention weights of the steps along the path to `node`: over the hypothesis, [L,
  /// H, T, T] with T = depth + 1, and over the source, [L, H, T, S]. Row i is the step that was fed
  /// with the path's token i, which is the step that emitted the hypothesis' token i. Weights of
  /// later keys and of masked source tokens are exactly 0. With a recurrent unit instead of
  /// self-attention, the hypothesis has H = 0. Requires has_attention().
  AttentionMap self_attention(NodeIndex node) const;
  AttentionMap cross_attention(NodeIndex node) const;
  /// Returns only their last rows: [L, H, 1, T] and [L, H, 1, S].
  AttentionMap self_attention_step(NodeIndex node) const;
  AttentionMap cross_attention_step(NodeIndex node) const;

  /// Returns the requested tensors of the steps along the path to `node`, with one row per step.
  std::vector<TracedTensor> trace(NodeIndex node) const;

 private:
  friend class Decoder;
  friend class LanguageModel;
  friend class Seq2Seq;

  // Forgets the step before.
  void begin_step();
  // Appends the nodes of a step and finds the keys that each may attend to.
  void append(std::span<const Extension> extensions);
  // Returns the maximum number of keys that a row of the current step attends to.
  std::size_t most_keys() const { return most_keys_; }
  // Returns one layer's part of the step that appended the last `count` nodes.
  LayerCache layer_cache(std::size_t layer, std::size_t count);
  KeyValueRows source_keys_values(std::size_t layer) const;
  std::span<const RowSegment> segments() const { return self_; }
  std::span<const RowSegment> source_segments() const { return cross_; }

  // Returns the buffer for a row's attention weights in one layer, [H, keys], or null if they
  // weren't requested.
  float* attention_of(std::size_t row, std::size_t layer, bool cross);
  // Returns a tracer for the step that was appended last, or for the sources' keys and values.
  // Returns nothing if no tensors are requested.
  std::optional<StepTracer> trace_step();
  std::optional<StepTracer> trace_sources();

  std::span<const std::uint32_t> source_keys(std::size_t source) const;
  // The keys of an attention: the hypothesis itself, or the source.
  enum class Keys { own, source };
  // Returns the attention weights of a node's row, [L, H, keys of the row].
  const float* weights_of(NodeIndex node, Keys keys) const;
  std::size_t heads_of(Keys keys) const { return keys == Keys::own ? own_heads_ : heads_; }
  MapShape map_shape(NodeIndex node, Keys keys, std::size_t heads) const;
  // Copies a row's values for the keys that it attended to, [heads, keys], to row `row` of each
  // head of a map.
  void copy_row(const float* kept, std::size_t row, const MapShape& shape, float* map) const;
  void copy_source_row(const float* kept, std::size_t row, std::size_t source,
                       const MapShape& shape, float* map) const;
  // Fills a map. row_of(node) returns the values to copy for each of the path's nodes.
  template <class RowOf>
  void fill(NodeIndex node, Keys keys, const MapShape& shape, const RowOf& row_of,
            float* map) const;
  AttentionMap attention(NodeIndex node, Keys keys) const;
  // Adds attention weights that are requested as a named tensor but stored as attention.
  void add_weights(NodeIndex node, Keys keys, std::vector<TracedTensor>& tensors) const;

  Session* session_;
  std::size_t layers_, heads_, own_heads_;  // own_heads_: self-attention, 0 if recurrent
  TraceRequest request_;
  DecodingLimits limits_;
  HypothesisTree tree_;
  KvCache cache_;
  std::vector<std::size_t> source_starts_, source_lengths_;  // tokens, in the batch
  std::vector<std::size_t> source_positions_;    // of each token, if named tensors are requested
  std::vector<std::uint32_t> source_keys_;       // visible rows of cache_.cross, by source
  std::vector<std::size_t> source_keys_starts_;  // [sources + 1]

  // Attention weights of all nodes, one after another: [L, H, depth + 1] over the hypothesis, then
  // [L, H, visible tokens] over the source.
  std::vector<float> weights_;
  std::vector<std::size_t> weights_starts_;    // by node
  RowRecorder traced_nodes_, traced_sources_;  // one row per node, one row per source token
  std::vector<TracedMaps> traced_maps_;

  // The current step.
  std::vector<std::int32_t> ids_;         // [R]
  std::vector<std::size_t> positions_;    // [R]
  std::vector<NodeIndex> paths_;          // all rows' paths, concatenated
  std::vector<RowSegment> self_, cross_;  // [R]
  std::size_t most_keys_ = 0;
};

}  // namespace glassformer
