#include "explain/circuits/circuit_graph.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace glassformer {
namespace {

std::string prefix_of(bool encoder) { return encoder ? "encoder." : "decoder."; }
std::string layer_of(bool encoder, std::size_t layer) {
  return prefix_of(encoder) + "layers." + std::to_string(layer) + ".";
}

[[noreturn]] void refuse(const char* expected, const char* got) {
  throw_error(ErrorCode::unsupported, {"circuit: expected {}, got {}", {expected, got}});
}

void expect_sums(const Stack& stack) {
  const StackConfig& config = stack.config();
  if (config.recurrent()) refuse("self-attention in the decoder", "recurrent units");
  if (!stack.layer_norm()) refuse("a norm after the last layer", "none");
  for (std::size_t l = 0; l < config.layers.size(); ++l) {
    const LayerConfig& layer = config.layers[l];
    const Block& block = stack.block(l);
    if (!layer.residual) refuse("residual connections", "none");
    if (layer.norm != NormPlacement::pre) {
      refuse("norms before sublayers", "norms after residual connections");
    }
    if (layer.output_norms) refuse("norms before sublayers only", "norms of their outputs, too");
    if (!block.self_attn().has_scores()) refuse("softmax attention", "linear attention");
    if (!block.self_attn_layer_norm() || !block.final_layer_norm()) {
      refuse("a norm before each sublayer", "none");
    }
  }
}

}  // namespace

std::string to_string(const CircuitNode& node) {
  const std::string layer = layer_of(node.encoder, node.layer);
  switch (node.kind) {
    case CircuitNode::Kind::embeddings:
      return prefix_of(node.encoder) + "embed_tokens";
    case CircuitNode::Kind::head:
      return layer + "self_attn.head." + std::to_string(node.head);
    case CircuitNode::Kind::cross_head:
      return layer + "encoder_attn.head." + std::to_string(node.head);
    case CircuitNode::Kind::feed_forward:
      break;
  }
  return layer + "fc2";
}

std::string to_string(const CircuitInput& input) {
  const std::string layer = layer_of(input.encoder, input.layer);
  const auto of_head = [&](const char* kind) {
    return layer + (input.cross ? "encoder_attn" : "self_attn") + ".head." +
           std::to_string(input.head) + kind;
  };
  switch (input.kind) {
    case CircuitInput::Kind::query:
      return of_head(".q");
    case CircuitInput::Kind::key:
      return of_head(".k");
    case CircuitInput::Kind::value:
      return of_head(".v");
    case CircuitInput::Kind::feed_forward:
      return layer + "fc1";
    case CircuitInput::Kind::logits:
      break;
  }
  return "logits";
}

CircuitGraph::CircuitGraph(const Stack* encoder, const Stack* decoder) {
  if (encoder) add_stack(*encoder, true);
  encoder_nodes_ = nodes_.size();
  if (decoder) add_stack(*decoder, false);
  add_input({.kind = CircuitInput::Kind::logits,
             .encoder = !decoder,
             .first = decoder ? encoder_nodes_ : 0,
             .end = nodes_.size()});
}

void CircuitGraph::add_input(CircuitInput input) {
  first_edges_.push_back(first_edges_.back() + input.end - input.first);
  inputs_.push_back(input);
}

void CircuitGraph::add_stack(const Stack& stack, bool encoder) {
  expect_sums(stack);
  const StackConfig& config = stack.config();
  const std::size_t first = encoder ? 0 : encoder_nodes_;
  nodes_.push_back({.kind = CircuitNode::Kind::embeddings, .encoder = encoder});
  using Kind = CircuitInput::Kind;
  for (std::size_t l = 0; l < config.layers.size(); ++l) {
    const Block& block = stack.block(l);
    const bool parallel = config.layers[l].parallel;
    const std::size_t before = nodes_.size();
    const auto attend = [&](const Attention& attention, bool cross) {
      const std::size_t end = nodes_.size();
      const AttentionConfig& heads = attention.config();
      for (std::size_t h = 0; h < heads.n_heads; ++h) {
        add_input({Kind::query, encoder, cross, l, h, first, end});
      }
      for (const Kind kind : {Kind::key, Kind::value}) {
        for (std::size_t h = 0; h < heads.n_kv_heads; ++h) {
          add_input({kind, encoder, cross, l, h, cross ? 0 : first, cross ? encoder_nodes_ : end});
        }
      }
      for (std::size_t h = 0; h < heads.n_heads; ++h) {
        nodes_.push_back(
            {cross ? CircuitNode::Kind::cross_head : CircuitNode::Kind::head, encoder, l, h});
      }
    };
    attend(block.self_attn(), false);
    if (block.attends()) attend(block.encoder_attn(), true);
    add_input({.kind = Kind::feed_forward,
               .encoder = encoder,
               .layer = l,
               .first = first,
               .end = parallel ? before : nodes_.size()});
    nodes_.push_back({CircuitNode::Kind::feed_forward, encoder, l});
  }
  const AttentionConfig& heads = config.layers.front().attention;
  shares_.push_back(heads.n_heads / heads.n_kv_heads);
}

std::size_t CircuitGraph::input_of(std::size_t edge) const {
  const auto after = std::ranges::upper_bound(first_edges_, edge);
  return static_cast<std::size_t>(after - first_edges_.begin()) - 1;
}

std::size_t CircuitGraph::node_of(std::size_t edge) const {
  const std::size_t input = input_of(edge);
  return inputs_[input].first + edge - first_edges_[input];
}

bool CircuitGraph::feeds(const CircuitInput& input, const CircuitNode& node) const {
  if (input.encoder != node.encoder || input.layer != node.layer) return false;
  if (input.kind == CircuitInput::Kind::logits || node.kind == CircuitNode::Kind::embeddings) {
    return false;
  }
  const bool of_feed_forward = input.kind == CircuitInput::Kind::feed_forward;
  if (of_feed_forward || node.kind == CircuitNode::Kind::feed_forward) {
    return of_feed_forward && node.kind == CircuitNode::Kind::feed_forward;
  }
  if (input.cross != (node.kind == CircuitNode::Kind::cross_head)) return false;
  const bool query = input.kind == CircuitInput::Kind::query;
  const std::size_t shared = node.encoder ? shares_.front() : shares_.back();
  return input.head == (query ? node.head : node.head / shared);
}

void CircuitGraph::prune(std::vector<bool>& kept) const {
  // From the embeddings on: a node without a kept edge into it has nothing to say.
  std::vector<bool> spoken(nodes_.size()), heard(nodes_.size());
  for (std::size_t u = 0; u < nodes_.size(); ++u) {
    spoken[u] = nodes_[u].kind == CircuitNode::Kind::embeddings;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    bool reads = false;
    for (std::size_t u = inputs_[i].first; u < inputs_[i].end; ++u) {
      const std::size_t edge = first_edges_[i] + u - inputs_[i].first;
      if (!spoken[u]) kept[edge] = false;
      reads = reads || kept[edge];
    }
    for (std::size_t u = 0; reads && u < nodes_.size(); ++u) {
      if (feeds(inputs_[i], nodes_[u])) spoken[u] = true;
    }
  }
  // From the logits back: an input whose node nobody hears is of no use.
  for (std::size_t i = inputs_.size(); i-- > 0;) {
    const CircuitInput& input = inputs_[i];
    bool counts = input.kind == CircuitInput::Kind::logits;
    for (std::size_t u = 0; u < nodes_.size(); ++u) {
      counts = counts || (heard[u] && feeds(input, nodes_[u]));
    }
    for (std::size_t u = input.first; u < input.end; ++u) {
      const std::size_t edge = first_edges_[i] + u - input.first;
      if (!counts) kept[edge] = false;
      if (kept[edge]) heard[u] = true;
    }
  }
}

}  // namespace glassformer
