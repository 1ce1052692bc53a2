#include "text/sentencepiece/renumbered_tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

AddedTokens make_specials(const Vocabulary& vocabulary,
                          const RenumberedTokenizer::Specials& specials) {
  std::vector<AddedToken> tokens = specials.more;
  for (const std::string* text : {&specials.end, &specials.unknown, &specials.padding}) {
    if (std::ranges::find(tokens, *text, &AddedToken::content) != tokens.end()) continue;
    AddedToken& token = tokens.emplace_back(AddedToken{.id = 0, .content = *text});
    token.special = true;
  }
  for (AddedToken& token : tokens) token.id = find_required(vocabulary, token.content);
  return {std::move(tokens), nullptr};
}

}  // namespace

RenumberedTokenizer::RenumberedTokenizer(SentencePieceTokenizer pieces, Vocabulary vocabulary,
                                         const Specials& specials)
    : pieces_(std::move(pieces)),
      vocabulary_(std::move(vocabulary)),
      specials_(make_specials(vocabulary_, specials)),
      unknown_(find_required(vocabulary_, specials.unknown)),
      languages_(specials.languages),
      unused_(specials.unused) {
  using enum TemplatePart::Kind;
  const TemplatePart end{special, find_required(vocabulary_, specials.end), 0};
  template_.single = {{first_text, 0, 0}, end};
  template_.pair = {{first_text, 0, 0}, {second_text, 0, 0}, end};
  if (languages_.empty()) return;
  const TemplatePart language{special, languages_[specials.source_language].id, 0};
  template_.single.insert(template_.single.begin(), language);
  template_.pair.insert(template_.pair.begin(), language);
}

bool RenumberedTokenizer::is_control(std::int32_t id) const {
  return specials_.at(id) || static_cast<std::size_t>(id) >= vocabulary_.size() ||
         std::ranges::find(languages_, id, &Language::id) != languages_.end();
}

std::int32_t RenumberedTokenizer::id_of(std::string_view piece) const {
  const std::int32_t id = vocabulary_.find(piece);
  return id == Vocabulary::absent ? unknown_ : id;
}

std::unique_ptr<TokenReader> RenumberedTokenizer::read(std::string_view utf8) const {
  expect_moderate(utf8);
  std::vector<Token> tokens;
  for (const Fragment& fragment : specials_.find_in_input(read_characters(utf8))) {
    if (fragment.id != Fragment::text) {
      tokens.push_back(
          {fragment.id, fragment.characters.front().begin, fragment.characters.back().end});
    } else {
      add_pieces(fragment, tokens);
    }
  }
  return make_whole_reader(std::move(tokens));
}

std::size_t RenumberedTokenizer::language_code_size(std::string_view utf8) const {
  if (!languages_.empty()) return 0;
  const std::size_t end = utf8.find("<<");
  return utf8.starts_with(">>") && end != utf8.npos ? end + 2 : 0;
}

void RenumberedTokenizer::add_pieces(const Fragment& fragment, std::vector<Token>& tokens) const {
  const std::string utf8 = to_utf8(fragment.characters);
  std::string_view text = utf8;
  std::uint32_t start = fragment.characters.front().begin;
  if (const std::size_t size = language_code_size(text); size > 0) {
    const std::string_view code = text.substr(0, size);
    const std::uint32_t units = utf16_size(code);
    tokens.push_back({id_of(code), start, start + units});
    start += units;
    text.remove_prefix(code.size());
  }
  pieces_.each_piece(text, [&](const Token& token, std::string_view surface) {
    const bool known = token.id != pieces_.unk_id();
    const std::int32_t id = id_of(known ? pieces_.piece(token.id) : surface);
    tokens.push_back({id, start + token.start, start + token.end});
  });
}

std::unique_ptr<TextDecoder> RenumberedTokenizer::make_decoder() const {
  return make_whole_decoder([this](std::span<const std::int32_t> ids) {
    std::string text;
    for (const std::int32_t id : ids) {
      const std::string_view token = piece(id);
      if (!is_control(id)) text += with_spaces(token);
    }
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  });
}

std::string_view RenumberedTokenizer::piece(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= size()) fail_id(id);
  return vocabulary_.text(static_cast<std::size_t>(id) < vocabulary_.size() ? id : unknown_);
}

std::string RenumberedTokenizer::display_text(std::int32_t id) const {
  return with_spaces(piece(id));
}

std::optional<std::int32_t> RenumberedTokenizer::find(std::string_view piece) const {
  const std::int32_t id = vocabulary_.find(piece);
  if (id == Vocabulary::absent) return std::nullopt;
  return id;
}

}  // namespace glassformer
