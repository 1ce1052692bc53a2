#include "text/word_models/scored_pieces.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr double unknown_penalty = 10;

}  // namespace

ScoredPieces::ScoredPieces(Vocabulary vocabulary, std::vector<double> scores,
                           const Options& options)
    : WordModel(std::move(vocabulary)),
      scores_(std::move(scores)),
      unknown_score_(std::numeric_limits<double>::infinity()),
      unknown_(options.unknown.value_or(Vocabulary::absent)),
      byte_fallback_(options.byte_fallback),
      bytes_(byte_tokens(this->vocabulary())) {
  for (const double score : scores_) unknown_score_ = std::min(unknown_score_, score);
  unknown_score_ -= unknown_penalty;
}

void ScoredPieces::cut(CharacterSpan word, std::vector<WordToken>& tokens) const {
  // The best path to each position: its score from the start of the word, and its last token.
  struct Arrival {
    double score = 0;
    WordToken token{Vocabulary::absent, 0, 0};
  };
  std::vector<Arrival> arrivals(word.size() + 1);
  std::string utf8;
  for (std::uint32_t begin = 0; begin < word.size(); ++begin) {
    const double score_here = arrivals[begin].score;
    const auto arrive = [&](std::uint32_t end, double score, std::int32_t id) {
      Arrival& best = arrivals[end];
      const double candidate = score + score_here;
      if (best.token.id != Vocabulary::absent && !(candidate > best.score)) return;
      best = {candidate, {id, begin, end}};
    };
    bool has_character = false;
    Trie::Node node = Trie::root;
    for (std::uint32_t end = begin; end < word.size();) {
      utf8.clear();
      append_character(utf8, word[end++].code);
      node = vocabulary().trie().descend(node, utf8);
      if (node == Trie::absent) break;
      const std::int32_t id = vocabulary().trie().value(node);
      if (id < 0) continue;
      arrive(end, scores_[static_cast<std::size_t>(id)], id);
      has_character |= end == begin + 1;
    }
    if (has_character) continue;
    if (unknown_ == Vocabulary::absent) {
      throw_error(ErrorCode::invalid_tokenizer,
                  {"tokenizer.json: model: unk_id: missing, but the text has the character \"{}\", "
                   "which is not in the vocabulary",
                   {to_utf8(word.subspan(begin, 1))}});
    }
    arrive(begin + 1, unknown_score_, unknown_);
  }

  std::vector<WordToken> reversed;
  for (auto end = static_cast<std::uint32_t>(word.size()); end > 0;) {
    const WordToken& token = arrivals[end].token;
    end = token.begin;
    // A run of unknown characters is one token.
    if (token.id == unknown_ && !reversed.empty() && reversed.back().id == unknown_) {
      reversed.back().begin = token.begin;
    } else {
      reversed.push_back(token);
    }
  }
  for (auto token = reversed.rbegin(); token != reversed.rend(); ++token) {
    if (token->id == unknown_) {
      add_unknown(word, *token, tokens);
    } else {
      tokens.push_back(*token);
    }
  }
}

void ScoredPieces::add_unknown(CharacterSpan word, const WordToken& token,
                               std::vector<WordToken>& tokens) const {
  if (byte_fallback_) {
    const std::string utf8 = to_utf8(word.subspan(token.begin, token.end - token.begin));
    const std::size_t before = tokens.size();
    for (const char byte : utf8) {
      const std::int32_t id = bytes_[static_cast<unsigned char>(byte)];
      if (id == Vocabulary::absent) break;
      tokens.push_back({id, token.begin, token.end});
    }
    if (tokens.size() == before + utf8.size()) return;
    tokens.resize(before);
  }
  tokens.push_back(token);
}

}  // namespace glassformer
