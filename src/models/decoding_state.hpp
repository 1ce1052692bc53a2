#pragma once

#include <optional>
#include <vector>

#include "models/config.hpp"
#include "models/hypothesis_tree.hpp"
#include "models/kv_cache.hpp"
#include "run/step_tracer.hpp"

namespace glassformer {

/// What a decoding may grow to. Memory is taken when it begins, but for no more than these likely
/// sizes; a larger one takes more as it grows.
inline constexpr std::size_t likely_nodes = 2048, likely_positions = 512;

struct DecodingLimits {
  std::size_t nodes;      ///< tokens fed in all, start tokens included
  std::size_t positions;  ///< longest hypothesis, its start token included
  std::size_t rows;       ///< most tokens fed in one step
};

/// One decoding of a batch of sources: its hypothesis tree, the keys and values of every node and
/// source token, and the attention weights where they were asked for. A model without an encoder
/// has sources without tokens. Made by a model's begin, grown by its decode; any number of them may
/// be under way.
class DecodingState {
 public:
  /// The session outlives this; decodings of one session take turns.
  DecodingState(const StackConfig& decoder, const Sequences& sources, const DecodingLimits& limits,
                const TraceRequest& request, Session& session);
  DecodingState(DecodingState&&) = default;
  DecodingState& operator=(DecodingState&&) = default;

  Session& session() const { return *session_; }
  const DecodingLimits& limits() const { return limits_; }
  const HypothesisTree& tree() const { return tree_; }
  std::size_t sources() const { return source_lengths_.size(); }
  std::size_t source_length(std::size_t source) const { return source_lengths_[source]; }
  bool has_attention() const { return request_.attention; }

  /// How the steps along the path to `node` spread their attention over the hypothesis so far,
  /// [L, H, T, T] with T = depth + 1, and over the source, [L, H, T, S]. Row i is the step that was
  /// fed with the path's token i, and so the one that emitted the hypothesis' token i. Weights of
  /// keys not yet seen, and of masked source tokens, are exactly 0. A hypothesis with a recurrent
  /// unit in the place of self-attention has no heads there. Only if has_attention().
  AttentionMap self_attention(NodeIndex node) const;
  AttentionMap cross_attention(NodeIndex node) const;
  /// Their last rows alone: [L, H, 1, T] and [L, H, 1, S].
  AttentionMap self_attention_step(NodeIndex node) const;
  AttentionMap cross_attention_step(NodeIndex node) const;

  /// The tensors that were asked for, of the steps along the path to `node`: a row for each step.
  std::vector<TracedTensor> trace(NodeIndex node) const;

 private:
  friend class Decoder;
  friend class LanguageModel;
  friend class Seq2Seq;

  // Appends the nodes of a step and finds what each may attend to.
  void append(std::span<const Extension> extensions);
  // The most keys that a row of the step under way attends to.
  std::size_t most_keys() const { return most_keys_; }
  // One layer's part of the step that appended the last `count` nodes.
  LayerCache layer_cache(std::size_t layer, std::size_t count);
  KeyValueRows source_keys_values(std::size_t layer) const;
  std::span<const RowSegment> segments() const { return self_; }
  std::span<const RowSegment> source_segments() const { return cross_; }

  // The buffer for a row's attention weights in one layer, [H, keys]; null: not asked for.
  float* attention_of(std::size_t row, std::size_t layer, bool cross);
  // What shows the step that was appended last, or the sources' keys and values; none where nothing
  // is asked for.
  std::optional<StepTracer> trace_step();
  std::optional<StepTracer> trace_sources();

  std::span<const std::uint32_t> source_keys(std::size_t source) const;
  // The hypothesis itself, or the source: what one of the two attentions reads.
  enum class Keys { own, source };
  // Where the attention weights of a node's row are, [L, H, keys that it saw].
  const float* weights_of(NodeIndex node, Keys keys) const;
  std::size_t heads_of(Keys keys) const { return keys == Keys::own ? own_heads_ : heads_; }
  MapShape map_shape(NodeIndex node, Keys keys, std::size_t heads) const;
  // Copies what a row has for the keys that it saw, [heads, keys], to row `row` of each head of a
  // map.
  void copy_row(const float* kept, std::size_t row, const MapShape& shape, float* map) const;
  void copy_source_row(const float* kept, std::size_t row, std::size_t source,
                       const MapShape& shape, float* map) const;
  // row_of(node): what to copy for each of the path's nodes.
  template <class RowOf>
  void fill(NodeIndex node, Keys keys, const MapShape& shape, const RowOf& row_of,
            float* map) const;
  AttentionMap attention(NodeIndex node, Keys keys) const;
  // Adds the weights that are asked for by name if they are kept as attention.
  void add_weights(NodeIndex node, Keys keys, std::vector<TracedTensor>& tensors) const;

  Session* session_;
  std::size_t layers_, heads_, own_heads_;  // own: of the hypothesis' attention to itself
  TraceRequest request_;
  DecodingLimits limits_;
  HypothesisTree tree_;
  KvCache cache_;
  std::vector<std::size_t> source_starts_, source_lengths_;  // tokens, in the batch
  std::vector<std::size_t> source_positions_;    // of each token, where a tensor is named
  std::vector<std::uint32_t> source_keys_;       // visible rows of cache_.cross, by source
  std::vector<std::size_t> source_keys_starts_;  // [sources + 1]

  // Attention weights of all nodes, one after another: [L, H, depth + 1] over the hypothesis, then
  // [L, H, visible tokens] over the source.
  std::vector<float> weights_;
  std::vector<std::size_t> weights_starts_;    // by node
  RowRecorder traced_nodes_, traced_sources_;  // a row a node, a row a source's token
  std::vector<TracedMaps> traced_maps_;

  // The step under way.
  std::vector<std::int32_t> ids_;         // [R]
  std::vector<std::size_t> positions_;    // [R]
  std::vector<NodeIndex> paths_;          // all rows' paths, one after another
  std::vector<RowSegment> self_, cross_;  // [R]
  std::size_t most_keys_ = 0;
};

}  // namespace glassformer
