#include "text/composed/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const TextNormalizer* normalizer)
    : tokens_(std::move(tokens)) {
  heap_sort(tokens_.begin(), tokens_.end(),
            [](const AddedToken& left, const AddedToken& right) { return left.id < right.id; });
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    AddedToken& token = tokens_[i];
    if (i > 0 && tokens_[i - 1].id == token.id) {
      throw_error(ErrorCode::invalid_tokenizer,
                  {"tokenizer.json: added_tokens: id {} appears twice", {token.id}});
    }
    token.pattern = token.content;
    if (token.normalized && normalizer) {
      token.pattern = to_utf8(normalizer->normalize(read_characters(token.content)));
    }
    if (token.pattern.empty()) continue;
    tries_[token.normalized].assign(token.pattern, static_cast<std::int32_t>(i));
  }
}

const AddedToken* AddedTokens::at(std::int32_t id) const {
  const auto token =
      std::lower_bound(tokens_.begin(), tokens_.end(), id,
                       [](const AddedToken& t, std::int32_t wanted) { return t.id < wanted; });
  return token != tokens_.end() && token->id == id ? &*token : nullptr;
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto token = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const AddedToken& t) { return t.content == content; });
  return token != tokens_.end() ? &*token : nullptr;
}

std::vector<Fragment> AddedTokens::find(CharacterSpan text, bool normalized) const {
  const Trie& trie = tries_[normalized];
  std::vector<Fragment> fragments;
  std::size_t done = 0;  // text position up to which fragments are complete
  const auto take = [&](std::size_t end, std::int32_t id) {
    if (end <= done) return;
    const CharacterSpan part = text.subspan(done, end - done);
    fragments.push_back({{part.begin(), part.end()}, id});
    done = end;
  };
  const auto is_space = [&](std::size_t i) { return unicode::is_white_space(text[i].code); };
  const auto is_word = [&](std::size_t i) { return unicode::is_word(text[i].code); };

  std::string utf8;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;  // end of the longest token found here
    std::int32_t index = -1;
    Trie::Node node = Trie::root;
    for (std::size_t j = i; j < text.size();) {
      utf8.clear();
      append_character(utf8, text[j++].code);
      node = trie.descend(node, utf8);
      if (node == Trie::absent) break;
      if (trie.value(node) < 0) continue;
      index = trie.value(node);
      end = j;
    }
    if (index < 0) {
      ++i;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
    std::size_t begin = i;
    i = end;
    const bool within_word =
        (begin > 0 && is_word(begin - 1)) || (end < text.size() && is_word(end));
    if (token.single_word && within_word) continue;
    while (token.strip_left && begin > done && is_space(begin - 1)) --begin;
    while (token.strip_right && end < text.size() && is_space(end)) ++end;
    take(begin, Fragment::text);
    take(end, token.id);
  }
  take(text.size(), Fragment::text);
  return fragments;
}

}  // namespace glassformer
