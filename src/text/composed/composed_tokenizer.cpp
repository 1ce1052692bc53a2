#include "text/composed/composed_tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "text/composed/byte_characters.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {

void ComposedTokenizer::Parts::add_token(AddedToken token) {
  if (token.content.empty()) return;
  const auto [place, is_new] = places_.emplace(token.content, added_tokens.size());
  if (!is_new) {
    AddedToken& same = added_tokens[place->second];
    token.id = same.id;
    same = std::move(token);
    return;
  }
  const Vocabulary& vocabulary = model->vocabulary();
  token.id = vocabulary.find(token.content);
  if (token.id == Vocabulary::absent) {
    token.id = std::max(next_id_, static_cast<std::int32_t>(vocabulary.count()));
  }
  next_id_ = std::max(next_id_, token.id + 1);
  added_tokens.push_back(std::move(token));
}

std::int32_t ComposedTokenizer::Parts::find(std::string_view token) const {
  const auto place = places_.find(token);
  return place == places_.end() ? model->vocabulary().find(token) : added_tokens[place->second].id;
}

std::int32_t ComposedTokenizer::Parts::find_required(std::string_view token) const {
  const std::int32_t id = find(token);
  return id == Vocabulary::absent ? glassformer::find_required(model->vocabulary(), token) : id;
}

ComposedTokenizer::ComposedTokenizer(Parts parts)
    : parts_(std::move(parts)), added_(std::move(parts_.added_tokens), parts_.normalizer.get()) {}

std::unique_ptr<TokenReader> ComposedTokenizer::read(std::string_view utf8) const {
  expect_moderate(utf8);
  std::vector<Token> tokens;
  for (Fragment& fragment : added_.find_in_input(read_characters(utf8))) {
    if (fragment.id != Fragment::text) {
      add(fragment.characters, fragment.id, tokens);
      continue;
    }
    Characters text = std::move(fragment.characters);
    if (parts_.normalizer) text = parts_.normalizer->normalize(std::move(text));
    for (const Fragment& part : added_.find_in_normalized(text)) {
      if (part.id != Fragment::text) {
        add(part.characters, part.id, tokens);
      } else {
        add_words(part.characters, tokens);
      }
    }
  }
  // If one character became several tokens, its range belongs to the first.
  std::uint32_t covered = 0;
  for (Token& token : tokens) {
    token.start = std::max(token.start, covered);
    token.end = std::max(token.end, token.start);
    covered = token.end;
  }
  return make_whole_reader(std::move(tokens));
}

void ComposedTokenizer::add_words(CharacterSpan text, std::vector<Token>& tokens) const {
  Words words;
  if (parts_.pre_tokenizer) {
    parts_.pre_tokenizer->split(text, words);
  } else {
    words.add(text);
  }
  std::vector<WordToken> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CharacterSpan word = words[i];
    found.clear();
    parts_.model->cut(word, found);
    for (const WordToken& token : found) {
      add(word.subspan(token.begin, token.end - token.begin), token.id, tokens);
      tokens.back().starts_word = &token == &found.front();
    }
  }
}

// Appends a token that covers these characters.
void ComposedTokenizer::add(CharacterSpan covered, std::int32_t id,
                            std::vector<Token>& tokens) const {
  Token token{id, covered.front().begin, covered.back().end};
  if (parts_.post_processor.trim_offsets) {
    const auto stays = [](const Character& c) {
      return c.code != byte_level_space && !unicode::is_white_space(c.code);
    };
    const auto first = std::find_if(covered.begin(), covered.end(), stays);
    const auto last = std::find_if(covered.rbegin(), covered.rend(), stays);
    auto leading = static_cast<std::uint32_t>(first - covered.begin());
    const auto trailing = static_cast<std::uint32_t>(last - covered.rbegin());
    const bool is_first = tokens.empty() || token.start == 0;
    if (leading == 1 && is_first && parts_.post_processor.has_prefix) leading = 0;
    token.start = std::min(token.start + leading, token.end);
    if (token.end >= trailing) token.end = std::max(token.end - trailing, token.start);
  }
  tokens.push_back(token);
}

std::unique_ptr<TextDecoder> ComposedTokenizer::make_decoder() const {
  return make_whole_decoder([this](std::span<const std::int32_t> ids) { return text_of(ids); });
}

std::string ComposedTokenizer::text_of(std::span<const std::int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) {
    std::string text = decodable(id);
    if (!is_control(id)) pieces.push_back(std::move(text));
  }
  return join(std::move(pieces));
}

std::string ComposedTokenizer::decode_all(std::span<const std::int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) pieces.push_back(decodable(id));
  return join(std::move(pieces));
}

// Returns the token in the form that the decoder expects.
std::string ComposedTokenizer::decodable(std::int32_t id) const {
  const std::string_view text = piece(id);
  const AddedToken* added = added_.at(id);
  return added ? added->pattern : std::string(text);
}

std::string ComposedTokenizer::join(std::vector<std::string> pieces) const {
  std::string text;
  for (const std::string& part : parts_.decoder->decode(std::move(pieces))) text += part;
  return text;
}

std::string ComposedTokenizer::display_text(std::int32_t id) const {
  const std::string token = decodable(id);
  if (is_control(id) || id == unk_id()) return std::string(piece(id));
  // Decoded after another token, to find out whether it starts a word.
  const std::string before = "x";
  std::string text = join({before, token});
  text.erase(0, join({before}).size());
  if (text.find(replacement_character) == text.npos) return text;
  // An added token is not decoded into bytes, even if the decoder could.
  if (added_.at(id)) return std::string(piece(id));
  const auto bytes = bytes_of_characters(token);
  return bytes ? with_named_bytes(*bytes) : text;
}

std::size_t ComposedTokenizer::size() const {
  std::size_t size = parts_.model->vocabulary().size();
  if (!added_.all().empty()) {
    size = std::max(size, static_cast<std::size_t>(added_.all().back().id) + 1);
  }
  return size;
}

std::string_view ComposedTokenizer::piece(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= size()) fail_id(id);
  const AddedToken* added = added_.at(id);
  return added ? std::string_view(added->content) : parts_.model->vocabulary().text(id);
}

std::optional<std::int32_t> ComposedTokenizer::find(std::string_view text) const {
  if (const AddedToken* added = added_.find(text)) return added->id;
  const std::int32_t id = parts_.model->vocabulary().find(text);
  if (id == Vocabulary::absent) return std::nullopt;
  return id;
}

bool ComposedTokenizer::is_control(std::int32_t id) const {
  const AddedToken* added = added_.at(id);
  return added && added->special;
}

}  // namespace glassformer
