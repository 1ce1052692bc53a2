#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace glassformer {

/// A map from strings to numbers, walked byte by byte. The edges of all nodes are in one hash
/// table, which accepts keys in any order and is built in a fraction of the time that a double
/// array needs.
class Trie {
 public:
  using Node = std::uint32_t;
  static constexpr Node root = 0;
  static constexpr Node absent = ~Node{0};

  Trie();

  /// `key` must not be empty, `value` not negative. Throws invalid_tokenizer if the key exists
  /// already or there are too many nodes to index.
  void insert(std::string_view key, std::int32_t value);
  /// Like insert(), but replaces the value of an existing key.
  void assign(std::string_view key, std::int32_t value);

  /// Returns the node one byte further, or absent.
  Node child(Node node, char byte) const { return edges_[slot_of(label(node, byte))].to; }

  /// Returns the node at the end of `text`, or absent.
  Node descend(Node node, std::string_view text) const {
    for (const char byte : text) {
      node = child(node, byte);
      if (node == absent) break;
    }
    return node;
  }

  /// Returns the value of the key that ends here, or -1.
  std::int32_t value(Node node) const { return values_[node]; }

  /// Returns the size in bytes of the longest key that `text` starts with, or 0.
  std::size_t longest_prefix(std::string_view text) const;

 private:
  struct Edge {
    std::uint32_t label = 0;  // node << 8 | byte
    Node to = absent;         // absent: the slot is free
  };

  static std::uint32_t label(Node node, char byte) {
    return node << 8 | static_cast<unsigned char>(byte);
  }

  // Returns the slot of the edge, or the free slot where it would be inserted.
  std::size_t slot_of(std::uint32_t label) const {
    // Fibonacci hashing: the upper bits of the product are well mixed.
    std::size_t slot = label * 0x9E3779B9u >> shift_;
    while (edges_[slot].label != label && edges_[slot].to != absent) {
      slot = (slot + 1) & (edges_.size() - 1);
    }
    return slot;
  }

  Node add(std::string_view key);
  void grow();

  std::vector<Edge> edges_;               // size is a power of two, at most two thirds are used
  unsigned shift_;                        // 32 - log2 of that size
  std::vector<std::int32_t> values_{-1};  // by node
};

}  // namespace glassformer
