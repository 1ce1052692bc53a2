#include "text/trie.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "error.hpp"

namespace glassformer {

// Places the nodes. The free units of the last few blocks form a circular list through the root; a
// node's children go to the first base where all of them find free units. Older blocks are given
// up, which bounds the search.
class TrieBuilder {
 public:
  TrieBuilder(Trie& trie, std::span<const Trie::Entry> sorted) : units_(trie.units_) {
    add_block();
    bases_[0] = true;  // a node without children has base 0: no node may have its children there
    std::vector<Range> open{{Trie::root, 0, sorted.size(), 0}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      place(range, sorted, open);
    }
  }

 private:
  // The entries whose keys share the first `depth` bytes, which lead to `node`.
  struct Range {
    Trie::Node node;
    std::size_t begin, end, depth;
  };
  struct Child {
    unsigned char label;
    std::size_t begin;
  };
  static constexpr std::uint32_t block_size = 256;
  static constexpr std::uint32_t open_blocks = 16;
  static constexpr std::uint32_t max_units = 1 << 23;  // what a link's base can address

  void place(Range range, std::span<const Trie::Entry> sorted, std::vector<Range>& open) {
    // A key sorts before those that it is a prefix of.
    if (range.begin < range.end && sorted[range.begin].key.size() == range.depth) {
      units_[range.node].value = sorted[range.begin++].value;
    }
    if (range.begin < range.end && sorted[range.begin].key.size() == range.depth) {
      throw Error(
          ErrorCode::invalid_tokenizer,
          "tokenizer.model: piece \"" + std::string(sorted[range.begin].key) + "\" appears twice");
    }
    children_.clear();
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto label = static_cast<unsigned char>(sorted[i].key[range.depth]);
      if (children_.empty() || children_.back().label != label) children_.push_back({label, i});
    }
    if (children_.empty()) return;

    const std::uint32_t base = find_base();
    bases_[base] = true;
    units_[range.node].link |= base << 9;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const Trie::Node node = base ^ children_[i].label;
      take(node);
      units_[node].link = Trie::used | children_[i].label;
      const std::size_t end = i + 1 < children_.size() ? children_[i + 1].begin : range.end;
      open.push_back({node, children_[i].begin, end, range.depth + 1});
    }
  }

  std::uint32_t find_base() {
    for (Trie::Node unit = next_[Trie::root]; unit != Trie::root; unit = next_[unit]) {
      const std::uint32_t base = unit ^ children_.front().label;
      if (!bases_[base] && fits(base)) return base;
    }
    const std::uint32_t block = static_cast<std::uint32_t>(units_.size());
    add_block();
    return block;
  }

  bool fits(std::uint32_t base) const {
    return std::all_of(children_.begin(), children_.end(),
                       [&](const Child& child) { return free_[base ^ child.label]; });
  }

  void add_block() {
    const auto begin = static_cast<std::uint32_t>(units_.size());
    if (begin + block_size > max_units) {
      throw Error(ErrorCode::invalid_tokenizer,
                  "tokenizer.model: expected a vocabulary of at most " + std::to_string(max_units) +
                      " nodes");
    }
    units_.resize(begin + block_size);
    bases_.resize(units_.size());
    free_.resize(units_.size());
    next_.resize(units_.size());
    previous_.resize(units_.size());
    for (std::uint32_t unit = begin; unit < begin + block_size; ++unit) {
      if (unit != Trie::root) give(unit);
    }
    if (begin >= open_blocks * block_size) close_block(begin - open_blocks * block_size);
  }

  void close_block(std::uint32_t begin) {
    for (std::uint32_t unit = begin; unit < begin + block_size; ++unit) {
      if (free_[unit]) take(unit);
    }
  }

  void take(std::uint32_t unit) {
    free_[unit] = false;
    next_[previous_[unit]] = next_[unit];
    previous_[next_[unit]] = previous_[unit];
  }

  void give(std::uint32_t unit) {  // to the end of the list
    free_[unit] = true;
    next_[unit] = Trie::root;
    previous_[unit] = previous_[Trie::root];
    next_[previous_[unit]] = unit;
    previous_[Trie::root] = unit;
  }

  std::vector<Trie::Unit>& units_;
  std::vector<Child> children_;
  std::vector<char> bases_;  // whether in use
  std::vector<char> free_;   // whether free
  std::vector<std::uint32_t> next_, previous_;
};

Trie::Trie(std::vector<Entry> entries) {
  for (Entry& entry : entries) {
    for (std::size_t i = 0; i < sizeof entry.first_bytes; ++i) {
      const char byte = i < entry.key.size() ? entry.key[i] : '\0';
      entry.first_bytes = entry.first_bytes << 8 | static_cast<unsigned char>(byte);
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.first_bytes != b.first_bytes ? a.first_bytes < b.first_bytes : a.key < b.key;
  });
  TrieBuilder(*this, entries);
}

std::size_t Trie::longest_prefix(std::string_view text) const {
  std::size_t longest = 0;
  Node node = root;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = child(node, text[i]);
    if (node == absent) break;
    if (value(node) >= 0) longest = i + 1;
  }
  return longest;
}

}  // namespace glassformer
