#include "text/word_models/ranked_bpe.hpp"

#include <algorithm>

#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr std::int32_t none = -1;

}  // namespace

RankedBpe::RankedBpe(Vocabulary vocabulary, const Options& options)
    : WordModel(std::move(vocabulary)), options_(options), bytes_(byte_tokens(this->vocabulary())) {
  if (options.unknown) unknown_ = find_required(this->vocabulary(), *options.unknown);
}

void RankedBpe::add_merge(std::string_view left, std::string_view right) {
  const auto find = [&](std::string_view token) { return find_required(vocabulary(), token); };
  const std::uint64_t pair = pair_of(find(left), find(right));
  const auto rank = static_cast<std::uint32_t>(merges_.size());
  right.remove_prefix(std::min(options_.prefix.size(), right.size()));
  merges_.push_back({pair, rank, find(std::string(left).append(right))});
}

void RankedBpe::finish_merges() {
  // If a pair occurs twice, its last rank is used.
  heap_sort(merges_.begin(), merges_.end(), [](const Merge& left, const Merge& right) {
    return left.pair != right.pair ? left.pair < right.pair : left.rank > right.rank;
  });
  const auto same = [](const Merge& left, const Merge& right) { return left.pair == right.pair; };
  merges_.erase(std::unique(merges_.begin(), merges_.end(), same), merges_.end());
}

const RankedBpe::Merge* RankedBpe::find(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  const auto merge =
      std::lower_bound(merges_.begin(), merges_.end(), pair,
                       [](const Merge& m, std::uint64_t wanted) { return m.pair < wanted; });
  return merge != merges_.end() && merge->pair == pair ? &*merge : nullptr;
}

std::vector<RankedBpe::Symbol> RankedBpe::characters(CharacterSpan word) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  const auto add = [&](std::int32_t id, std::uint32_t begin) {
    const auto index = static_cast<std::int32_t>(symbols.size());
    symbols.push_back({{id, begin, begin + 1}, index - 1, index + 1});
  };
  bool after_unknown = false;
  std::string utf8;
  for (std::uint32_t i = 0; i < word.size(); ++i) {
    utf8.clear();
    if (i > 0) utf8 = options_.prefix;
    append_character(utf8, word[i].code);
    if (i + 1 == word.size()) utf8 += options_.suffix;
    const std::int32_t id = vocabulary().find(utf8);
    const bool in_bytes =
        id < 0 && options_.byte_fallback &&
        std::all_of(utf8.begin(), utf8.end(), [&](char byte) { return byte_token(byte) >= 0; });
    if (id >= 0) {
      add(id, i);
    } else if (in_bytes) {
      for (const char byte : utf8) add(byte_token(byte), i);
    } else if (after_unknown && options_.fuse_unknown) {
      symbols.back().token.end = i + 1;
    } else if (unknown_ >= 0) {
      add(unknown_, i);
    }
    after_unknown = id < 0 && !in_bytes && unknown_ >= 0;
  }
  if (!symbols.empty()) symbols.back().next = none;
  return symbols;
}

void RankedBpe::merge(std::vector<Symbol>& symbols) const {
  const auto at = [&](std::int32_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  std::vector<Candidate> heap;
  const auto propose = [&](std::int32_t left, std::int32_t right) {
    if (left == none || right == none) return;
    const Merge* found = find(at(left).token.id, at(right).token.id);
    if (!found) return;
    heap.push_back({found->rank, left, found->id});
    std::push_heap(heap.begin(), heap.end());
  };
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(symbols.size()); ++i) {
    propose(i, at(i).next);
  }
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate best = heap.back();
    heap.pop_back();
    Symbol& left = at(best.left);
    if (left.removed || left.next == none) continue;
    Symbol& right = at(left.next);
    // One of them may have changed since. The merge of the current pair is used, as in the
    // original.
    const Merge* found = find(left.token.id, right.token.id);
    if (!found || found->id != best.id) continue;
    left.token.id = best.id;
    left.token.end = right.token.end;
    left.next = right.next;
    right.removed = true;
    if (left.next != none) at(left.next).previous = best.left;
    propose(left.previous, best.left);
    propose(best.left, left.next);
  }
}

void RankedBpe::cut(CharacterSpan word, std::vector<WordToken>& tokens) const {
  if (options_.ignore_merges) {
    const std::int32_t id = vocabulary().find(to_utf8(word));
    if (id >= 0) {
      tokens.push_back({id, 0, static_cast<std::uint32_t>(word.size())});
      return;
    }
  }
  std::vector<Symbol> symbols = characters(word);
  merge(symbols);
  for (const Symbol& symbol : symbols) {
    if (!symbol.removed) tokens.push_back(symbol.token);
  }
}

}  // namespace glassformer
