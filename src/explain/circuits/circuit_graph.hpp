#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/seq2seq.hpp"

namespace glassformer {

// The graph of a model (Hanna et al. 2024, "Have Faith in Faithfulness", section 2).
// Nodes add to the residual stream; inputs read what nodes before them have added. An edge leads
// from a node to an input, so heads have three kinds of edges into them. Inputs read the stream
// before their norm.

/// A part of the model that writes into the residual stream of a stack.
struct CircuitNode {
  enum class Kind { embeddings, head, cross_head, feed_forward };
  Kind kind;
  bool encoder = false;  ///< in the encoder, not in the decoder
  std::size_t layer = 0, head = 0;
};

/// Returns "decoder.embed_tokens", "decoder.layers.0.self_attn.head.3",
/// "decoder.layers.0.encoder_attn.head.3" or "decoder.layers.0.fc2".
std::string to_string(const CircuitNode& node);

/// A place that reads the residual stream.
struct CircuitInput {
  enum class Kind { query, key, value, feed_forward, logits };
  Kind kind;
  bool encoder = false;  ///< of a part of the encoder
  bool cross = false;    ///< of an attention to an encoder
  std::size_t layer = 0;
  std::size_t head = 0;  ///< of keys and values: the head of keys, which heads may share
  /// The nodes that it reads: first … end. Keys and values of cross-attention read the encoder's.
  std::size_t first = 0, end = 0;
};

/// Returns "decoder.layers.0.self_attn.head.3.q" (k, v), "decoder.layers.0.fc1" or "logits".
std::string to_string(const CircuitInput& input);

/// Nodes and inputs in the order of a run, the encoder's first.
class CircuitGraph {
 public:
  /// One of the stacks may be null; without a decoder, the encoder answers. Throws `unsupported`
  /// for stacks whose stream is not a sum: with norms behind residual connections or on outputs,
  /// without norms or softmax, or with recurrent units.
  CircuitGraph(const Stack* encoder, const Stack* decoder);

  const std::vector<CircuitNode>& nodes() const { return nodes_; }
  const std::vector<CircuitInput>& inputs() const { return inputs_; }
  /// The number of edges. Those of input i are the edges first_edge(i) …, in the order of nodes.
  std::size_t edges() const { return first_edges_.back(); }
  std::size_t first_edge(std::size_t input) const { return first_edges_[input]; }
  /// Returns the input and the node of an edge.
  std::size_t input_of(std::size_t edge) const;
  std::size_t node_of(std::size_t edge) const;

  /// Removes edges without a way from embeddings and to the logits. Keeps the others.
  void prune(std::vector<bool>& kept) const;

 private:
  void add_stack(const Stack& stack, bool encoder);
  void add_input(CircuitInput input);
  // Whether the part that a node stands for reads this input.
  bool feeds(const CircuitInput& input, const CircuitNode& node) const;

  std::size_t encoder_nodes_ = 0;
  std::vector<CircuitNode> nodes_;
  std::vector<CircuitInput> inputs_;
  std::vector<std::size_t> first_edges_ = {0};
  std::vector<std::size_t> shares_;  // of each stack, query heads per head of keys
};

}  // namespace glassformer
