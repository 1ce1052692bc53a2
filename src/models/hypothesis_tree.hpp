#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// A node of the hypothesis tree, numbered in the order in which they were fed.
using NodeIndex = std::uint32_t;
/// The parent of a hypothesis' first node.
inline constexpr NodeIndex no_parent = ~NodeIndex{0};

/// A token to feed to the decoder: after `parent`, or as the first one of a hypothesis about source
/// `source` (which matters only there: a child has its parent's source).
struct Extension {
  NodeIndex parent = no_parent;
  std::size_t source = 0;
  std::int32_t id = 0;
};

/// Every token that was fed to the decoder. A hypothesis is the path from a root, the start token,
/// to a node; hypotheses share their prefix, and those that a search has left stay readable.
class HypothesisTree {
 public:
  struct Node {
    NodeIndex parent;
    std::size_t source;
    std::size_t depth;  ///< its position in the hypothesis; 0: the start token
    std::int32_t id;    ///< the token fed
  };

  /// Makes room for `nodes` nodes.
  explicit HypothesisTree(std::size_t nodes) { nodes_.reserve(nodes); }

  NodeIndex append(const Extension& extension);

  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](NodeIndex node) const { return nodes_[node]; }

  /// The nodes from the root to `node`, into path [depth + 1].
  void path(NodeIndex node, std::span<NodeIndex> path) const;
  std::vector<NodeIndex> path(NodeIndex node) const;

 private:
  std::vector<Node> nodes_;
};

}  // namespace glassformer
