#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// The index of a node in the hypothesis tree. Nodes are numbered in the order in which they were
/// fed.
using NodeIndex = std::uint32_t;
/// The parent of a hypothesis' first node.
inline constexpr NodeIndex no_parent = ~NodeIndex{0};

/// A token to feed to the decoder: after `parent`, or as the first token of a hypothesis for source
/// `source`. Other nodes have their parent's source, so `source` is ignored for them.
struct Extension {
  NodeIndex parent = no_parent;
  std::size_t source = 0;
  std::int32_t id = 0;
};

/// Returns the extension that appends token `i` of a single hypothesis, whose nodes are its tokens.
inline Extension next_in_line(std::size_t i, std::int32_t id) {
  return {.parent = i == 0 ? no_parent : static_cast<NodeIndex>(i - 1), .source = 0, .id = id};
}

/// All tokens that were fed to the decoder. A hypothesis is the path from a root, the start token,
/// to a node. Hypotheses share their prefixes. Hypotheses that a search dropped stay readable.
class HypothesisTree {
 public:
  struct Node {
    NodeIndex parent;
    std::size_t source;
    std::size_t depth;  ///< its position in the hypothesis; 0: the start token
    std::int32_t id;    ///< the token fed
  };

  /// Reserves memory for `nodes` nodes.
  explicit HypothesisTree(std::size_t nodes) { nodes_.reserve(nodes); }

  NodeIndex append(const Extension& extension);
  /// Forgets all but the first `nodes` nodes.
  void keep_first(std::size_t nodes) { nodes_.resize(nodes); }

  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](NodeIndex node) const { return nodes_[node]; }

  /// Writes the nodes from the root to `node` to path [depth + 1].
  void path(NodeIndex node, std::span<NodeIndex> path) const;
  std::vector<NodeIndex> path(NodeIndex node) const;

 private:
  std::vector<Node> nodes_;
};

}  // namespace glassformer
