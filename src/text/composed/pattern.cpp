#include "text/composed/pattern.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {

template <typename Is>
std::size_t end_of_run(CharacterSpan text, std::size_t begin, const Is& is) {
  while (begin < text.size() && is(text[begin].code)) ++begin;
  return begin;
}

bool starts_with(CharacterSpan text, std::size_t begin, std::u32string_view wanted) {
  if (text.size() - begin < wanted.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), text.begin() + static_cast<std::ptrdiff_t>(begin),
                    [](char32_t code, const Character& c) { return code == c.code; });
}

bool is_other(char32_t code) {
  return !unicode::is_white_space(code) && !unicode::is_letter(code) && !unicode::is_number(code);
}

}  // namespace

std::size_t byte_level_word(CharacterSpan text, std::size_t begin) {
  using namespace std::string_view_literals;
  static constexpr std::array clitics = {U"'s"sv, U"'t"sv,  U"'re"sv, U"'ve"sv,
                                         U"'m"sv, U"'ll"sv, U"'d"sv};
  for (const std::u32string_view clitic : clitics) {
    if (starts_with(text, begin, clitic)) return clitic.size();
  }
  const std::size_t from = text[begin].code == ' ' ? begin + 1 : begin;
  if (from < text.size()) {
    const char32_t first = text[from].code;
    const auto is = unicode::is_letter(first)   ? unicode::is_letter
                    : unicode::is_number(first) ? unicode::is_number
                                                : is_other;
    const std::size_t end = end_of_run(text, from, is);
    if (end > from) return end - begin;
  }
  const std::size_t end = end_of_run(text, begin, unicode::is_white_space);
  return end == text.size() || end == begin + 1 ? end - begin : end - begin - 1;
}

Pattern Pattern::read(Component& component) {
  constexpr std::size_t most_characters = 1024;
  Pattern pattern;
  JsonObject object(component.require("pattern"), tokenizer_json, component.path() + ": pattern");
  if (object.find("String")) {
    for (const Character& character : read_characters(object.string("String"))) {
      pattern.text_ += character.code;
    }
    if (pattern.text_.empty()) component.refuse("pattern", "", "a String that is not empty");
    if (pattern.text_.size() > most_characters) {  // it is tried at each position of a text
      object.fail("String", {"expected at most {} characters, got {}",
                             {most_characters, pattern.text_.size()}});
    }
  } else {
    const std::string place =
        std::string(object.document()) + ": " + component.path() + ": pattern";
    pattern.regex_.emplace(object.string("Regex"), place);
  }
  object.finish();
  return pattern;
}

std::vector<TextPart> Pattern::find(CharacterSpan text) const {
  if (regex_) return regex_->cut(text);
  return find_matches(text, [this](CharacterSpan all, std::size_t i) {
    return starts_with(all, i, text_) ? text_.size() : 0;
  });
}

}  // namespace glassformer
