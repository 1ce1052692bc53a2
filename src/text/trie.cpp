#include "text/trie.hpp"

#include <string>

#include "base/error.hpp"
#include "base/json/json.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_nodes = 1 << 24;  // limit of a label's bits
constexpr unsigned first_log2_slots = 8;
// At each position of a text, keys are followed as far as they match. This limit makes the time for
// a word linear in its length, for any vocabulary.
constexpr std::size_t max_key_bytes = 2048;  // Claude's longest token has this length

}  // namespace

Trie::Trie() : edges_(std::size_t{1} << first_log2_slots), shift_(32 - first_log2_slots) {}

// Adds the missing nodes of a key. Returns the node at its end.
Trie::Node Trie::add(std::string_view key) {
  if (key.size() > max_key_bytes) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"vocabulary: token \"{}\": expected at most {} bytes, got {}",
                 {shortened(std::string(key), 40), max_key_bytes, key.size()}});
  }
  Node node = root;
  for (const char byte : key) {
    if (values_.size() * 3 > edges_.size() * 2) grow();
    Edge& edge = edges_[slot_of(label(node, byte))];
    if (edge.to == absent) {
      if (values_.size() == max_nodes) {
        throw_error(ErrorCode::invalid_tokenizer,
                    {"tokenizer.model: expected a vocabulary of at most {} nodes", {max_nodes}});
      }
      edge = {label(node, byte), static_cast<Node>(values_.size())};
      values_.push_back(-1);
    }
    node = edge.to;
  }
  return node;
}

void Trie::insert(std::string_view key, std::int32_t value) {
  const Node node = add(key);
  if (values_[node] >= 0) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"tokenizer.model: piece \"{}\" appears twice", {key}});
  }
  values_[node] = value;
}

void Trie::assign(std::string_view key, std::int32_t value) { values_[add(key)] = value; }

void Trie::grow() {
  std::vector<Edge> old(edges_.size() * 2);
  old.swap(edges_);
  --shift_;
  for (const Edge& edge : old) {
    if (edge.to != absent) edges_[slot_of(edge.label)] = edge;
  }
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
