#include "text/training/character_rules.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/strings/utf8.hpp"
#include "text/characters.hpp"
#include "text/sentencepiece/model.hpp"
#include "text/unicode/normal_form.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {

using unicode::NormalForm;

constexpr char32_t last_cased = 0x1FFFF;  // no letter above it has an upper and a lower case

Characters characters_of(std::span<const char32_t> codes) {
  Characters characters;
  for (const char32_t code : codes) characters.push_back({code, 0, 0});
  return characters;
}

// Writes the rules for sequences of characters.
class RuleWriter {
 public:
  explicit RuleWriter(LetterCase letter_case) : letter_case_(letter_case) {}

  void add(const Characters& sequence) {
    std::string key = to_utf8(sequence);
    std::string replacement = to_utf8(normalized(sequence));
    if (replacement != key) rules_.insert_or_assign(std::move(key), std::move(replacement));
  }

  void add_white_space_and_controls();
  void add_decomposable(char32_t code);
  void add_letter_cases();

  CharacterRules take() { return std::move(rules_); }

 private:
  Characters normalized(const Characters& sequence) const {
    Characters result = unicode::normal_form(sequence, NormalForm::nfkc);
    return letter_case_ == LetterCase::keep
               ? result
               : unicode::normal_form(in_lower_case(result), NormalForm::nfkc);
  }

  static Characters in_lower_case(const Characters& sequence);
  void replace(char32_t code, std::string replacement);

  LetterCase letter_case_;
  CharacterRules rules_;
};

Characters RuleWriter::in_lower_case(const Characters& sequence) {
  constexpr char32_t final_sigma = 0x3C2, sigma = 0x3C3;
  Characters lower;
  for (const Character& character : sequence) {
    const char32_t code = unicode::lower_case(character.code);
    lower.push_back({code == final_sigma ? sigma : code, 0, 0});
  }
  return lower;
}

void RuleWriter::replace(char32_t code, std::string replacement) {
  std::string key;
  append_character(key, code);
  rules_.insert_or_assign(std::move(key), std::move(replacement));
}

void RuleWriter::add_white_space_and_controls() {
  for (char32_t code = 1; code < 0xA0; ++code) {
    if (unicode::category(code) == unicode::Category::control) replace(code, "");
  }
  for (char32_t code = 1; code <= 0x3000; ++code) {
    if (code != ' ' && unicode::is_white_space(code)) replace(code, " ");
  }
  // Spaces without a width, marks of the direction of writing, U+2581 and U+FFFD.
  for (const char32_t code : {0x200B, 0x200C, 0x200E, 0x200F, 0x2581, 0xFEFF, 0xFFFD}) {
    replace(code, " ");
  }
}

// Adds a character, and the sequences of a base and marks that are equal to it.
void RuleWriter::add_decomposable(char32_t code) {
  const Characters whole = characters_of({&code, 1});
  add(whole);
  Characters parts = unicode::normal_form(whole, NormalForm::nfd);
  if (parts.size() < 2) return;
  add(parts);
  if (parts.size() < 3) return;
  Characters composed = unicode::normal_form({parts.data(), parts.size() - 1}, NormalForm::nfc);
  composed.push_back(parts.back());
  add(composed);
  std::swap(parts[parts.size() - 1], parts[parts.size() - 2]);  // the marks in the other order
  if (to_utf8(normalized(parts)) == to_utf8(normalized(whole))) add(parts);
}

void RuleWriter::add_letter_cases() {
  for (char32_t code = 1; code <= last_cased; ++code) {
    const Characters letter = characters_of({&code, 1});
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (!surrogate && in_lower_case(letter)[0].code != code) add(letter);
  }
}

}  // namespace

CharacterRules normalization_rules(LetterCase letter_case) {
  RuleWriter writer(letter_case);
  if (letter_case == LetterCase::lower) writer.add_letter_cases();
  for (const char32_t code : unicode::decomposable_codes()) writer.add_decomposable(code);
  writer.add_white_space_and_controls();
  return writer.take();
}

}  // namespace glassformer
