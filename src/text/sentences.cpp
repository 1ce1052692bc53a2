#include "text/sentences.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

struct Character {
  char32_t code;
  std::size_t byte;    // position in bytes
  std::uint32_t unit;  // position in UTF-16 units
};
using Line = std::vector<Character>;

// Case is defined for the letters of European languages. Other letters have no case.
bool is_lower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  if (c < 0x100) return c >= 0xDF && c != 0xF7;
  if (c < 0x180) return (c & 1) != ((c >= 0x139 && c <= 0x148) || c >= 0x179 ? 1u : 0u);
  return (c >= 0x3AC && c <= 0x3CE) || (c >= 0x430 && c <= 0x45F);
}

bool is_upper(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  if (c < 0x100) return c >= 0xC0 && c <= 0xDE && c != 0xD7;
  if (c < 0x180) return !is_lower(c);
  return (c >= 0x391 && c <= 0x3A9) || (c >= 0x400 && c <= 0x42F);
}

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

bool is_line_break(char32_t c) {
  return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || is_line_break(c) || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200B) || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

template <std::size_t N>
bool is_among(char32_t c, const char32_t (&characters)[N]) {
  return std::find(characters, characters + N - 1, c) != characters + N - 1;
}

bool is_stop(char32_t c) { return is_among(c, U".!?\u2026\u3002\uFF01\uFF1F"); }
bool is_wide_stop(char32_t c) { return is_among(c, U"\u3002\uFF01\uFF1F"); }  // no space follows it
bool is_quote(char32_t c) { return is_among(c, U"\"'\u00AB\u00BB\u2018\u2019\u201C\u201D\u201E"); }
bool is_closing(char32_t c) { return is_quote(c) || is_among(c, U")]}\u203A\u300D\u300F"); }
bool is_opening(char32_t c) {
  return is_quote(c) || is_among(c, U"([{\u00A1\u00BF\u2039\u201A-\u2013\u2014\u2022*");
}

template <std::size_t N>
bool is_among(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Abbreviations that do not end a sentence.
constexpr auto inner = std::to_array<std::string_view>(
    {"mr",   "mrs",  "ms",   "mx",   "dr",   "prof", "rev",    "hon",  "st",     "mt",
     "ft",   "gen",  "col",  "maj",  "capt", "cmdr", "lt",     "sgt",  "cpl",    "pvt",
     "adm",  "gov",  "sen",  "rep",  "sr",   "jr",   "messrs", "mme",  "mlle",   "e.g",
     "i.e",  "eg",   "ie",   "viz",  "cf",   "vs",   "al",     "ca",   "approx", "esp",
     "resp", "incl", "sens", "reps", "det",  "insp", "dept",   "univ", "assn",   "bros"});
// Abbreviations only before a number.
constexpr auto numbered = std::to_array<std::string_view>(
    {"no",   "nos", "nr",  "fig", "figs", "p",   "pp",   "vol", "ch",  "chap", "sec",
     "art",  "eq",  "ed",  "jan", "feb",  "mar", "apr",  "jun", "jul", "aug",  "sep",
     "sept", "oct", "nov", "dec", "c",    "op",  "para", "pt",  "ver", "v"});
// Abbreviations anywhere in a sentence. Initials and dotted letters (U.S.) are treated the same.
constexpr auto anywhere = std::to_array<std::string_view>(
    {"inc", "ltd", "co", "corp", "llc", "bros", "ave", "blvd", "rd"});
// Words that, if capitalized, rarely occur inside a sentence.
constexpr auto starters = std::to_array<std::string_view>(
    {"the",    "a",     "an",     "this",  "that",  "these", "those",    "there",   "here",
     "it",     "it's",  "he",     "he's",  "she",   "she's", "they",     "we",      "you",
     "i",      "i'm",   "my",     "his",   "her",   "their", "our",      "your",    "its",
     "in",     "on",    "at",     "but",   "and",   "so",    "or",       "if",      "when",
     "while",  "after", "before", "as",    "for",   "from",  "with",     "by",      "what",
     "who",    "why",   "how",    "where", "which", "do",    "does",     "did",     "is",
     "are",    "was",   "were",   "not",   "no",    "yes",   "then",     "now",     "however",
     "many",   "most",  "some",   "all",   "one",   "also",  "although", "because", "since",
     "please", "let's", "don't"});

char32_t code_point(std::string_view character) {
  char32_t code = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) code &= 0x7Fu >> character.size();
  for (const char byte : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3Fu);
  }
  return code;
}

// Reads the characters up to and including a line break. Moves `byte` and `unit` past them.
Line read_line(std::string_view text, std::size_t& byte, std::uint32_t& unit) {
  Line line;
  while (byte < text.size()) {
    const std::string_view rest = text.substr(byte);
    const std::size_t size = valid_character_size(rest);
    const char32_t code = size == 0 ? U'\uFFFD' : code_point(rest.substr(0, size));
    line.push_back({code, byte, unit});
    byte += std::max<std::size_t>(size, 1);
    unit += size == 4 ? 2 : 1;
    if (is_line_break(code)) break;
  }
  return line;
}

// Returns the characters of [begin, end) in ASCII and lower case, other characters as '?'.
std::string lower(const Line& line, std::size_t begin, std::size_t end) {
  std::string word;
  for (std::size_t i = begin; i < end; ++i) {
    char32_t c = line[i].code;
    if (c == 0x2019) c = '\'';
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    word += c < 0x80 ? static_cast<char>(c) : '?';
  }
  return word;
}

// Returns whether the full stop at `stop` belongs to the word before it. The sentence starts at
// `begin`, the next word at `next`.
bool abbreviates(const Line& line, std::size_t begin, std::size_t stop, std::size_t next) {
  std::size_t first = stop;
  while (first > begin && !is_space(line[first - 1].code) && !is_opening(line[first - 1].code)) {
    --first;
  }
  const std::string word = lower(line, first, stop);
  if (word.empty()) return false;
  const bool letters = std::all_of(word.begin(), word.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '.'; });
  const bool number =
      std::all_of(word.begin(), word.end(), [](char c) { return is_digit(char32_t(c)); });
  if (first == begin && (number || word.size() == 1)) return true;  // of a list: "1." or "b."
  if (!letters) return false;
  if (is_among(word, inner)) return true;
  if (is_digit(line[next].code)) return is_among(word, numbered);

  const bool initials = word.size() == 1 || word.find('.') != word.npos;
  if (!initials && !is_among(word, anywhere)) return false;
  if (word == "i" && first > begin) return false;
  std::size_t end = next;
  while (end < line.size() && !is_space(line[end].code) && !is_stop(line[end].code) &&
         line[end].code != ',') {
    ++end;
  }
  return !is_among(lower(line, next, end), starters);
}

// Returns whether a sentence starts at `next`, after the stops [stop, stop_end) and the closing
// marks that end at `closed`. `capitals`: the line has both capital and small letters.
bool starts_sentence(const Line& line, std::size_t begin, std::size_t stop, std::size_t stop_end,
                     std::size_t closed, std::size_t next, bool capitals) {
  std::size_t word = next;
  while (word < line.size() && is_opening(line[word].code)) ++word;
  if (word == line.size()) return false;
  const bool ends_with_dot = line[stop_end - 1].code == '.' || line[stop_end - 1].code == 0x2026;
  if (is_lower(line[word].code)) {
    if (closed > stop_end) return false;  // "Stop!" he said
    if (ends_with_dot && (capitals || stop_end > stop + 1)) return false;
  }
  const bool full_stop = stop_end == stop + 1 && line[stop].code == '.';
  return !full_stop || !abbreviates(line, begin, stop, word);
}

// `line` ends with an extra character that marks the end of the text.
void split_line(const Line& line, std::vector<SentenceRange>& sentences) {
  std::size_t end = line.size() - 1;
  while (end > 0 && is_space(line[end - 1].code)) --end;
  const auto skip_spaces = [&](std::size_t i) {
    while (i < end && is_space(line[i].code)) ++i;
    return i;
  };
  const auto add = [&](std::size_t first, std::size_t last) {
    sentences.push_back({line[first].byte, line[last].byte, line[first].unit, line[last].unit});
  };
  bool capitals = false;  // other than the word "I"
  for (std::size_t i = 0; i < end; ++i) {
    const char32_t after = line[i + 1].code;
    const bool one = line[i].code == 'I' && !is_lower(after) && !is_upper(after);
    capitals = capitals || (is_upper(line[i].code) && !one);
  }

  std::size_t begin = skip_spaces(0);
  for (std::size_t i = begin; i < end;) {
    if (!is_stop(line[i].code)) {
      ++i;
      continue;
    }
    const std::size_t stop = i;
    while (i < end && is_stop(line[i].code)) ++i;
    const std::size_t stop_end = i;
    while (i < end && is_closing(line[i].code)) ++i;
    const std::size_t next = skip_spaces(i);
    if (next == end) break;
    const bool wide = is_wide_stop(line[stop_end - 1].code);
    if (!wide && (next == i || !starts_sentence(line, begin, stop, stop_end, i, next, capitals))) {
      continue;
    }
    add(begin, i);
    begin = i = next;
  }
  if (begin < end) add(begin, end);
}

}  // namespace

std::vector<SentenceRange> split_sentences(std::string_view text) {
  std::vector<SentenceRange> sentences;
  std::size_t byte = 0;
  std::uint32_t unit = 0;
  while (byte < text.size()) {
    Line line = read_line(text, byte, unit);
    line.push_back({'\n', byte, unit});
    split_line(line, sentences);
  }
  return sentences;
}

}  // namespace glassformer
