#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "text/sentencepiece/segmenter.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// Byte-pair encoding (Sennrich et al. 2016). Starts from characters and repeatedly merges the two
/// neighbors whose joint piece has the highest score, leftmost first among equals.
class Bpe final : public Segmenter {
 public:
  explicit Bpe(const SentencePieceModel& model);

  std::vector<Segment> segment(std::string_view words, float& score) const override;

 private:
  /// A part of the word. Merging two symbols empties the right one.
  struct Symbol {
    std::int32_t previous, next;  // `none` at the ends
    std::uint32_t begin, size;    // bytes of the word
    Trie::Node node;              // the trie node at the end of its text
    bool frozen;                  // user-defined: is never merged
  };
  /// A merge that was possible when it was found.
  struct Merge {
    float score;
    std::int32_t left, right;
    std::uint32_t size;
    Trie::Node node;

    bool operator<(const Merge& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };
  static constexpr std::int32_t none = -1;

  /// Memory of one call. `halves` maps the id of an unused piece to the size in bytes of
  /// the left half it was last merged from.
  struct Workspace {
    std::vector<Symbol> symbols;
    std::vector<Merge> agenda;  // a heap
    std::map<std::int32_t, std::uint32_t> halves;
  };

  void split(std::string_view word, std::vector<Symbol>& symbols) const;
  void propose(std::string_view word, std::int32_t left, std::int32_t right,
               Workspace& workspace) const;
  void merge(std::string_view word, Workspace& workspace) const;
  void emit(std::string_view piece, const Workspace& workspace, std::vector<Segment>& out) const;
  bool is_unused(std::int32_t id) const;

  std::vector<float> scores_;
  std::vector<char> unused_;  // by id: whether the piece has the type `unused`
  Trie trie_;
  Trie user_defined_;
  std::int32_t unk_id_;
};

}  // namespace glassformer
