#include "jinja/letters.hpp"

#include <algorithm>
#include <span>

#include "base/strings/utf8.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer::jinja {
namespace {

using unicode::Category;

struct CodeRange {
  char32_t first, last;
};

// clang-format off

// Characters with the properties Lowercase and Uppercase that are not in the categories Ll and Lu.
constexpr CodeRange other_lower[] = {
    {0xAA, 0xAA}, {0xBA, 0xBA}, {0x2B0, 0x2B8}, {0x2C0, 0x2C1}, {0x2E0, 0x2E4}, {0x345,
    0x345}, {0x37A, 0x37A}, {0x1D2C, 0x1D6A}, {0x1D78, 0x1D78}, {0x1D9B, 0x1DBF}, {0x2071,
    0x2071}, {0x207F, 0x207F}, {0x2090, 0x209C}, {0x2170, 0x217F}, {0x24D0, 0x24E9}, {0x2C7C,
    0x2C7D}, {0xA69C, 0xA69D}, {0xA770, 0xA770}, {0xA7F8, 0xA7F9}, {0xAB5C, 0xAB5F}, {0x10780,
    0x10780}, {0x10783, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA}};
constexpr CodeRange other_upper[] = {
    {0x2160, 0x216F}, {0x24B6, 0x24CF}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170,
    0x1F189}};
// Digits that are not in the category Nd.
constexpr CodeRange other_digits[] = {
    {0xB2, 0xB3}, {0xB9, 0xB9}, {0x1369, 0x1371}, {0x19DA, 0x19DA}, {0x2070, 0x2070}, {0x2074,
    0x2079}, {0x2080, 0x2089}, {0x2460, 0x2468}, {0x2474, 0x247C}, {0x2488, 0x2490}, {0x24EA,
    0x24EA}, {0x24F5, 0x24FD}, {0x24FF, 0x24FF}, {0x2776, 0x277E}, {0x2780, 0x2788}, {0x278A,
    0x2792}, {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A}};
// Ideographs that are numbers.
constexpr CodeRange number_ideographs[] = {
    {0x3405, 0x3405}, {0x3483, 0x3483}, {0x382A, 0x382A}, {0x3B4D, 0x3B4D}, {0x4E00, 0x4E00},
    {0x4E03, 0x4E03}, {0x4E07, 0x4E07}, {0x4E09, 0x4E09}, {0x4E5D, 0x4E5D}, {0x4E8C, 0x4E8C},
    {0x4E94, 0x4E94}, {0x4E96, 0x4E96}, {0x4EBF, 0x4EC0}, {0x4EDF, 0x4EDF}, {0x4EE8, 0x4EE8},
    {0x4F0D, 0x4F0D}, {0x4F70, 0x4F70}, {0x5104, 0x5104}, {0x5146, 0x5146}, {0x5169, 0x5169},
    {0x516B, 0x516B}, {0x516D, 0x516D}, {0x5341, 0x5341}, {0x5343, 0x5345}, {0x534C, 0x534C},
    {0x53C1, 0x53C4}, {0x56DB, 0x56DB}, {0x58F1, 0x58F1}, {0x58F9, 0x58F9}, {0x5E7A, 0x5E7A},
    {0x5EFE, 0x5EFF}, {0x5F0C, 0x5F0E}, {0x5F10, 0x5F10}, {0x62FE, 0x62FE}, {0x634C, 0x634C},
    {0x67D2, 0x67D2}, {0x6F06, 0x6F06}, {0x7396, 0x7396}, {0x767E, 0x767E}, {0x8086, 0x8086},
    {0x842C, 0x842C}, {0x8CAE, 0x8CAE}, {0x8CB3, 0x8CB3}, {0x8D30, 0x8D30}, {0x9621, 0x9621},
    {0x9646, 0x9646}, {0x964C, 0x964C}, {0x9678, 0x9678}, {0x96F6, 0x96F6}, {0xF96B, 0xF96B},
    {0xF973, 0xF973}, {0xF978, 0xF978}, {0xF9B2, 0xF9B2}, {0xF9D1, 0xF9D1}, {0xF9D3, 0xF9D3},
    {0xF9FD, 0xF9FD}, {0x20001, 0x20001}, {0x20064, 0x20064}, {0x200E2, 0x200E2}, {0x20121,
    0x20121}, {0x2092A, 0x2092A}, {0x20983, 0x20983}, {0x2098C, 0x2098C}, {0x2099C, 0x2099C},
    {0x20AEA, 0x20AEA}, {0x20AFD, 0x20AFD}, {0x20B19, 0x20B19}, {0x22390, 0x22390}, {0x22998,
    0x22998}, {0x23B1B, 0x23B1B}, {0x2626D, 0x2626D}, {0x2F890, 0x2F890}};

// Characters, each followed by its upper case, where that is not one character with the former as
// its lower case.
constexpr std::string_view special_upper =
    "\u00b5\u039c \u00dfSS \u0131I \u0149\u02bcN \u017fS \u01c5\u01c4 \u01c8\u01c7 "
    "\u01cb\u01ca \u01f0J\u030c \u01f2\u01f1 \u0345\u0399 \u0390\u0399\u0308\u0301 "
    "\u03b0\u03a5\u0308\u0301 \u03c2\u03a3 \u03d0\u0392 \u03d1\u0398 \u03d5\u03a6 \u03d6\u03a0 "
    "\u03f0\u039a \u03f1\u03a1 \u03f5\u0395 \u0587\u0535\u0552 \u1c80\u0412 \u1c81\u0414 "
    "\u1c82\u041e \u1c83\u0421 \u1c84\u0422 \u1c85\u0422 \u1c86\u042a \u1c87\u0462 "
    "\u1c88\ua64a \u1e96H\u0331 \u1e97T\u0308 \u1e98W\u030a \u1e99Y\u030a \u1e9aA\u02be "
    "\u1e9b\u1e60 \u1f50\u03a5\u0313 \u1f52\u03a5\u0313\u0300 \u1f54\u03a5\u0313\u0301 "
    "\u1f56\u03a5\u0313\u0342 \u1fb2\u1fba\u0399 \u1fb3\u0391\u0399 \u1fb4\u0386\u0399 "
    "\u1fb6\u0391\u0342 \u1fb7\u0391\u0342\u0399 \u1fbc\u0391\u0399 \u1fbe\u0399 "
    "\u1fc2\u1fca\u0399 \u1fc3\u0397\u0399 \u1fc4\u0389\u0399 \u1fc6\u0397\u0342 "
    "\u1fc7\u0397\u0342\u0399 \u1fcc\u0397\u0399 \u1fd2\u0399\u0308\u0300 "
    "\u1fd3\u0399\u0308\u0301 \u1fd6\u0399\u0342 \u1fd7\u0399\u0308\u0342 "
    "\u1fe2\u03a5\u0308\u0300 \u1fe3\u03a5\u0308\u0301 \u1fe4\u03a1\u0313 \u1fe6\u03a5\u0342 "
    "\u1fe7\u03a5\u0308\u0342 \u1ff2\u1ffa\u0399 \u1ff3\u03a9\u0399 \u1ff4\u038f\u0399 "
    "\u1ff6\u03a9\u0342 \u1ff7\u03a9\u0342\u0399 \u1ffc\u03a9\u0399 \ufb00FF \ufb01FI \ufb02FL "
    "\ufb03FFI \ufb04FFL \ufb05ST \ufb06ST \ufb13\u0544\u0546 \ufb14\u0544\u0535 "
    "\ufb15\u0544\u053b \ufb16\u054e\u0546 \ufb17\u0544\u053d ";
// The same for the title case, where it is not the upper case.
constexpr std::string_view special_title =
    "\u00dfSs \u0587\u0535\u0582 \u1fb2\u1fba\u0345 \u1fb3\u1fbc \u1fb4\u0386\u0345 "
    "\u1fb7\u0391\u0342\u0345 \u1fbc\u1fbc \u1fc2\u1fca\u0345 \u1fc3\u1fcc \u1fc4\u0389\u0345 "
    "\u1fc7\u0397\u0342\u0345 \u1fcc\u1fcc \u1ff2\u1ffa\u0345 \u1ff3\u1ffc \u1ff4\u038f\u0345 "
    "\u1ff7\u03a9\u0342\u0345 \u1ffc\u1ffc \ufb00Ff \ufb01Fi \ufb02Fl \ufb03Ffi \ufb04Ffl "
    "\ufb05St \ufb06St \ufb13\u0544\u0576 \ufb14\u0544\u0565 \ufb15\u0544\u056b "
    "\ufb16\u054e\u0576 \ufb17\u0544\u056d ";

// clang-format on

bool is_listed(char32_t code, std::span<const CodeRange> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

// Returns the special case of a character, or nothing.
std::string_view find_special(std::string_view table, std::string_view character) {
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = table.find(' ', at);
    const std::string_view entry = table.substr(at, end - at);
    if (entry.starts_with(character)) return entry.substr(character.size());
    at = end + 1;
  }
  return {};
}

std::string encoded(char32_t code) {
  std::string text;
  append_character(text, code);
  return text;
}

bool is_lower(char32_t code) {
  return unicode::category(code) == Category::lowercase_letter || is_listed(code, other_lower);
}

bool is_upper(char32_t code) {
  return unicode::category(code) == Category::uppercase_letter || is_listed(code, other_upper);
}

bool is_cased(char32_t code) {
  return is_lower(code) || is_upper(code) || unicode::category(code) == Category::titlecase_letter;
}

// Greek letters with a subscript iota: in groups of eight small and eight title-case letters.
bool has_iota(char32_t code) { return code >= 0x1F80 && code <= 0x1FAF; }

std::string upper_of(char32_t code) {
  if (code < 0x80) return encoded(unicode::upper_case(code));
  if (has_iota(code)) {
    constexpr char32_t capitals[] = {0x1F08, 0x1F28, 0x1F68};
    return encoded(capitals[(code - 0x1F80) / 16] + code % 8) + encoded(0x399);
  }
  const std::string_view special = find_special(special_upper, encoded(code));
  return special.empty() ? encoded(unicode::upper_case(code)) : std::string(special);
}

std::string title_of(char32_t code) {
  if (code < 0x80) return encoded(unicode::upper_case(code));
  if (code >= 0x10D0 && code <= 0x10FF) return encoded(code);  // Georgian
  if (code >= 0x1C4 && code <= 0x1CC) return encoded(0x1C5 + (code - 0x1C4) / 3 * 3);
  if (code >= 0x1F1 && code <= 0x1F3) return encoded(0x1F2);
  if (has_iota(code)) return encoded(code | 8);
  const std::string_view special = find_special(special_title, encoded(code));
  return special.empty() ? upper_of(code) : std::string(special);
}

std::string lower_of(char32_t code) {
  return code == 0x130 ? "i\u0307" : encoded(unicode::lower_case(code));
}

std::string folded_of(char32_t code) {
  if (code < 0x80) return encoded(unicode::lower_case(code));
  if (code == 0x131 || (code >= 0x13A0 && code <= 0x13F5)) return encoded(code);
  if (code >= 0x13F8 && code <= 0x13FD) return encoded(code - 8);
  if (code >= 0xAB70 && code <= 0xABBF) return encoded(code - 0xAB70 + 0x13A0);
  if (code == 0x1E9E) return "ss";
  const std::string upper = upper_of(code);
  std::string folded;
  for (std::size_t at = 0; at < upper.size();) folded += lower_of(next_character(upper, at));
  return folded;
}

bool is_case_ignorable(char32_t code) {
  constexpr std::string_view signs =
      "'.:^`\u00a8\u00ad\u00af\u00b4\u00b7\u00b8\u2018\u2019\u2024\u2027";
  const Category category = unicode::category(code);
  return category == Category::nonspacing_mark || category == Category::enclosing_mark ||
         category == Category::format || category == Category::modifier_letter ||
         category == Category::modifier_symbol || signs.find(encoded(code)) != signs.npos;
}

// Returns whether the sigma that starts at `begin` and ends before `end` is the last letter of a
// word.
bool is_final_sigma(std::string_view text, std::size_t begin, std::size_t end) {
  bool follows_letter = false;
  for (std::size_t at = begin; at > 0;) {
    do --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    std::size_t place = at;
    const char32_t code = next_character(text, place);
    if (is_case_ignorable(code)) continue;
    follows_letter = is_cased(code);
    break;
  }
  if (!follows_letter) return false;
  while (end < text.size()) {
    const char32_t code = next_character(text, end);
    if (!is_case_ignorable(code)) return !is_cased(code);
  }
  return true;
}

}  // namespace

char32_t next_character(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t size = announced_size(text[at]);
  char32_t code = lead < 0x80 ? lead : lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
  }
  at += size;
  return code;
}

std::size_t byte_of(const Text& text, std::size_t index) {
  if (text.is_ascii()) return index;
  if (index >= text.length) return text.bytes.size();
  std::size_t at = 0;
  for (; index > 0; --index) at += announced_size(text.bytes[at]);
  return at;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool is_in_class(char32_t code, CharacterClass what) {
  const auto is_decimal = [&] { return unicode::category(code) == Category::decimal_number; };
  const auto is_numeric = [&] {
    return unicode::is_number(code) || is_listed(code, number_ideographs);
  };
  switch (what) {
    case CharacterClass::alpha:
      return unicode::is_letter(code);
    case CharacterClass::decimal:
      return is_decimal();
    case CharacterClass::digit:
      return is_decimal() || is_listed(code, other_digits);
    case CharacterClass::numeric:
      return is_numeric();
    case CharacterClass::alnum:
      return unicode::is_letter(code) || is_numeric();
    case CharacterClass::space:
      return unicode::is_white_space(code) || (code >= 0x1C && code <= 0x1F);
    case CharacterClass::printable: {
      if (code < 0x7F) return code >= 0x20;
      constexpr unicode::Categories hidden =
          unicode::separator_categories | unicode::other_categories;
      return (hidden >> static_cast<unsigned>(unicode::category(code)) & 1) == 0;
    }
    case CharacterClass::ascii:
      return code < 0x80;
    case CharacterClass::cased:
      return is_cased(code);
    case CharacterClass::lower:
      return is_lower(code);
    case CharacterClass::upper:
      return is_upper(code);
    case CharacterClass::title:
      return unicode::category(code) == Category::titlecase_letter;
    case CharacterClass::word:
      return code == '_' || unicode::is_letter(code) || is_numeric();
  }
  return false;
}

bool is_text_in_case(std::string_view text, CharacterClass wanted, CharacterClass other) {
  bool has_wanted = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_character(text, at);
    if (is_in_class(code, other) || is_in_class(code, CharacterClass::title)) return false;
    has_wanted |= is_in_class(code, wanted);
  }
  return has_wanted;
}

std::string convert_case(std::string_view text, LetterCase to) {
  std::string result;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t code = next_character(text, at);
    const auto lower = [&] {
      const bool is_sigma = code == 0x3A3 && is_final_sigma(text, begin, at);
      return is_sigma ? "\u03c2" : lower_of(code);
    };
    switch (to) {
      case LetterCase::lower:
        result += lower();
        break;
      case LetterCase::upper:
        result += upper_of(code);
        break;
      case LetterCase::title:
        result += in_word ? lower() : title_of(code);
        in_word = is_cased(code);
        break;
      case LetterCase::capitalized:
        result += begin == 0 ? title_of(code) : lower();
        break;
      case LetterCase::swapped:
        result += is_upper(code) ? lower() : is_lower(code) ? upper_of(code) : encoded(code);
        break;
      case LetterCase::folded:
        result += folded_of(code);
        break;
    }
  }
  return result;
}

}  // namespace glassformer::jinja
