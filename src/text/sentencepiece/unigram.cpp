#include "text/sentencepiece/unigram.hpp"

#include <algorithm>
#include <cfloat>

#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr float unk_penalty = 10;

}  // namespace

Unigram::Unigram(const SentencePieceModel& model)
    : Segmenter(model.pieces),
      trie_(trie_of(model.pieces, {PieceType::normal, PieceType::user_defined, PieceType::unused})),
      unk_id_(model.unk_id) {
  float min_score = FLT_MAX;
  max_score_ = FLT_MIN;  // the smallest positive float, as in the original
  for (const Piece& piece : model.pieces) {
    pieces_.push_back({piece.score, piece.type});
    if (piece.type != PieceType::normal) continue;
    min_score = std::min(min_score, piece.score);
    max_score_ = std::max(max_score_, piece.score);
  }
  unk_score_ = min_score - unk_penalty;
}

// User-defined pieces win over all other pieces for the same text. Scores are compared as doubles
// and stored as floats. If two paths are equally good, the rounding decides, as in the original.
double Unigram::score(std::int32_t id, std::size_t size) const {
  const Entry& piece = pieces_[static_cast<std::size_t>(id)];
  if (piece.type != PieceType::user_defined) return piece.score;
  return static_cast<float>(size) * max_score_ - 0.1;
}

// Reads the score of the path to the word from arrivals[0].
void Unigram::find_arrivals(std::string_view word, std::vector<Arrival>& arrivals) const {
  std::size_t start = 0;
  while (start < word.size()) {
    const float score_here = arrivals[start].score;
    const auto arrive = [&](std::size_t end, double candidate, std::int32_t id) {
      Arrival& best = arrivals[end];
      if (best.start != unreached && !(candidate > double{best.score})) return;
      best = {static_cast<float>(candidate), static_cast<std::uint32_t>(start), id};
    };

    const std::size_t next = std::min(start + announced_size(word[start]), word.size());
    bool has_character = false;
    Trie::Node node = Trie::root;
    for (std::size_t end = start; end < word.size();) {
      node = trie_.child(node, word[end++]);
      if (node == Trie::absent) break;
      const std::int32_t id = trie_.value(node);
      if (id < 0 || pieces_[static_cast<std::size_t>(id)].type == PieceType::unused) continue;
      arrive(end, score(id, end - start) + double{score_here}, id);
      has_character |= end == next;
    }
    if (!has_character) arrive(next, double{unk_score_ + score_here}, unk_id_);
    start = next;
  }
}

std::vector<Segment> Unigram::segment(std::string_view text, float& total) const {
  std::vector<Segment> segments;
  std::vector<Arrival> arrivals;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = splitter().end_of_word(text, begin);
    const std::string_view word = text.substr(begin, end - begin);
    arrivals.assign(word.size() + 1, {});
    arrivals[0].score = total;
    find_arrivals(word, arrivals);
    total = arrivals[word.size()].score;

    const auto first = static_cast<std::ptrdiff_t>(segments.size());
    for (std::size_t position = word.size(); position > 0;) {
      const Arrival& arrival = arrivals[position];
      segments.push_back({arrival.id, static_cast<std::uint32_t>(position - arrival.start)});
      position = arrival.start;
    }
    std::reverse(segments.begin() + first, segments.end());
    begin = end;
  }
  return segments;
}

}  // namespace glassformer
