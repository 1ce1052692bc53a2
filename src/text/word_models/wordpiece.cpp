#include "text/word_models/wordpiece.hpp"

#include "base/strings/utf8.hpp"

namespace glassformer {

WordPiece::WordPiece(Vocabulary vocabulary, const Options& options)
    : WordModel(std::move(vocabulary)),
      unknown_(find_required(this->vocabulary(), options.unknown)),
      marks_subwords_(!options.prefix.empty()),
      inner_(this->vocabulary().trie().descend(Trie::root, options.prefix)),
      max_characters_(options.max_characters) {}

void WordPiece::cut(CharacterSpan word, std::vector<WordToken>& tokens) const {
  const auto size = static_cast<std::uint32_t>(word.size());
  if (size > max_characters_) {
    tokens.push_back({unknown_, 0, size});
    return;
  }
  const std::size_t before = tokens.size();
  std::string utf8;
  for (std::uint32_t begin = 0; begin < size;) {
    WordToken longest{Vocabulary::absent, begin, begin};
    Trie::Node node = begin == 0 ? Trie::root : inner_;
    for (std::uint32_t end = begin; end < size && node != Trie::absent;) {
      utf8.clear();
      append_character(utf8, word[end++].code);
      node = vocabulary().trie().descend(node, utf8);
      if (node == Trie::absent) break;
      const std::int32_t id = vocabulary().trie().value(node);
      if (id >= 0) longest = {id, begin, end};
    }
    if (longest.id == Vocabulary::absent) {
      tokens.resize(before);
      tokens.push_back({unknown_, 0, size});
      return;
    }
    tokens.push_back(longest);
    begin = longest.end;
  }
}

}  // namespace glassformer
