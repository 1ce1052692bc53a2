#include "models/decoding/hypothesis_tree.hpp"

namespace glassformer {

NodeIndex HypothesisTree::append(const Extension& extension) {
  if (extension.parent == no_parent) {
    nodes_.push_back({no_parent, extension.source, 0, extension.id});
  } else {
    const Node& parent = nodes_[extension.parent];
    nodes_.push_back({extension.parent, parent.source, parent.depth + 1, extension.id});
  }
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

void HypothesisTree::path(NodeIndex node, std::span<NodeIndex> path) const {
  for (std::size_t i = path.size(); i > 0; --i) {
    path[i - 1] = node;
    node = nodes_[node].parent;
  }
}

std::vector<NodeIndex> HypothesisTree::path(NodeIndex node) const {
  std::vector<NodeIndex> nodes(nodes_[node].depth + 1);
  path(node, nodes);
  return nodes;
}

}  // namespace glassformer
