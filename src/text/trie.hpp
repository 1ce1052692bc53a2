#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace glassformer {

/// A set of strings with a value each, walked byte by byte: a double array, in which a node's child
/// for byte c lies at base XOR c and knows itself by the label c.
class Trie {
 public:
  struct Entry {
    std::string_view key;           // not empty
    std::int32_t value;             // not negative
    std::uint64_t first_bytes = 0;  // of the key, for quick comparisons; set by the trie
  };
  using Node = std::uint32_t;
  static constexpr Node root = 0;
  static constexpr Node absent = ~Node{0};

  /// Throws invalid_tokenizer if a key appears twice or there are too many to index.
  explicit Trie(std::vector<Entry> entries);

  /// The node one byte further, or absent.
  Node child(Node node, char byte) const {
    const auto label = static_cast<unsigned char>(byte);
    const Node next = (units_[node].link >> 9) ^ label;
    return (units_[next].link & 0x1FF) == (used | label) ? next : absent;
  }

  /// The node at the end of `text`, or absent.
  Node descend(Node node, std::string_view text) const {
    for (const char byte : text) {
      node = child(node, byte);
      if (node == absent) break;
    }
    return node;
  }

  /// The value of the key that ends here, or -1.
  std::int32_t value(Node node) const { return units_[node].value; }

  /// Bytes of the longest key that `text` starts with, or 0.
  std::size_t longest_prefix(std::string_view text) const;

 private:
  friend class TrieBuilder;

  struct Unit {
    std::uint32_t link = 0;  // base << 9 | used | label; the root's and free units are not `used`
    std::int32_t value = -1;
  };
  static constexpr std::uint32_t used = 0x100;

  std::vector<Unit> units_;  // a multiple of 256, so that base XOR c is always inside
};

}  // namespace glassformer
