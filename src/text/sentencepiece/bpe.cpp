#include "text/sentencepiece/bpe.hpp"

#include <algorithm>

#include "base/strings/utf8.hpp"

namespace glassformer {

Bpe::Bpe(const SentencePieceModel& model)
    : Segmenter(model.pieces),
      trie_(trie_of(model.pieces, {PieceType::normal, PieceType::user_defined, PieceType::unused})),
      user_defined_(trie_of(model.pieces, {PieceType::user_defined})),
      unk_id_(model.unk_id) {
  for (const Piece& piece : model.pieces) {
    scores_.push_back(piece.score);
    unused_.push_back(piece.type == PieceType::unused);
  }
}

std::vector<Segment> Bpe::segment(std::string_view text, float&) const {
  std::vector<Segment> segments;
  Workspace workspace;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = splitter().end_of_word(text, begin);
    const std::string_view word = text.substr(begin, end - begin);
    split(word, workspace.symbols);
    merge(word, workspace);
    for (std::int32_t i = 0; i != none;) {
      const Symbol& symbol = workspace.symbols[static_cast<std::size_t>(i)];
      emit(word.substr(symbol.begin, symbol.size), workspace, segments);
      i = symbol.next;
    }
    begin = end;
  }
  return segments;
}

// Splits a word into characters and whole user-defined pieces.
void Bpe::split(std::string_view word, std::vector<Symbol>& symbols) const {
  symbols.clear();
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string_view rest = word.substr(begin);
    const std::size_t defined = user_defined_.longest_prefix(rest);
    const std::size_t size = defined > 0 ? defined : std::min(announced_size(rest[0]), rest.size());
    const auto index = static_cast<std::int32_t>(symbols.size());
    symbols.push_back({index - 1, index + 1, static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(size),
                       trie_.descend(Trie::root, rest.substr(0, size)), defined > 0});
    begin += size;
  }
  symbols.back().next = none;
}

// Adds the merge of two neighbors to the agenda if their joint text is a piece.
void Bpe::propose(std::string_view word, std::int32_t left, std::int32_t right,
                  Workspace& workspace) const {
  if (left == none || right == none) return;
  const Symbol& a = workspace.symbols[static_cast<std::size_t>(left)];
  const Symbol& b = workspace.symbols[static_cast<std::size_t>(right)];
  if (a.frozen || b.frozen || a.node == Trie::absent) return;
  const Trie::Node node = trie_.descend(a.node, word.substr(b.begin, b.size));
  if (node == Trie::absent || trie_.value(node) < 0) return;

  const std::int32_t id = trie_.value(node);
  workspace.agenda.push_back(
      {scores_[static_cast<std::size_t>(id)], left, right, a.size + b.size, node});
  std::push_heap(workspace.agenda.begin(), workspace.agenda.end());
  if (is_unused(id)) workspace.halves[id] = a.size;
}

void Bpe::merge(std::string_view word, Workspace& workspace) const {
  auto& [symbols, agenda, halves] = workspace;
  const auto count = static_cast<std::int32_t>(symbols.size());
  for (std::int32_t i = 1; i < count; ++i) propose(word, i - 1, i, workspace);

  while (!agenda.empty()) {
    std::pop_heap(agenda.begin(), agenda.end());
    const Merge top = agenda.back();
    agenda.pop_back();
    Symbol& left = symbols[static_cast<std::size_t>(top.left)];
    Symbol& right = symbols[static_cast<std::size_t>(top.right)];
    // One of the two may have merged with another neighbor since.
    if (left.size == 0 || right.size == 0 || left.size + right.size != top.size) continue;

    left.size = top.size;
    left.node = top.node;
    left.next = right.next;
    right.size = 0;
    if (left.next != none) symbols[static_cast<std::size_t>(left.next)].previous = top.left;
    propose(word, left.previous, top.left, workspace);
    propose(word, top.left, left.next, workspace);
  }
}

// Splits an unused piece again into the halves it was merged from.
void Bpe::emit(std::string_view piece, const Workspace& workspace,
               std::vector<Segment>& out) const {
  std::vector<std::string_view> rest{piece};
  while (!rest.empty()) {
    const std::string_view text = rest.back();
    rest.pop_back();
    const Trie::Node node = trie_.descend(Trie::root, text);
    const std::int32_t id = node == Trie::absent ? -1 : trie_.value(node);
    const auto half = id >= 0 && is_unused(id) ? workspace.halves.find(id) : workspace.halves.end();
    if (half == workspace.halves.end()) {
      out.push_back({id >= 0 ? id : unk_id_, static_cast<std::uint32_t>(text.size())});
    } else {
      rest.push_back(text.substr(half->second));
      rest.push_back(text.substr(0, half->second));
    }
  }
}

bool Bpe::is_unused(std::int32_t id) const { return unused_[static_cast<std::size_t>(id)]; }

}  // namespace glassformer
