#include "text/training/word_counts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {

constexpr std::size_t window_bytes = 64 << 10;
// Longer words are cut. They are not words of a language, and cost memory in training.
constexpr std::size_t max_word_characters = 256;

enum class Alphabet { any, letters, east_asian_letters, others };

// Returns the code point of a valid UTF-8 character.
char32_t code_point_of(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7Fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

Alphabet alphabet_of(std::string_view character) {
  constexpr char32_t first_east_asian = 0x2E80;
  if (character == space_symbol) return Alphabet::any;
  const char32_t code = code_point_of(character);
  if (unicode::is_letter(code)) {
    return code < first_east_asian ? Alphabet::letters : Alphabet::east_asian_letters;
  }
  return unicode::is_mark(code) ? Alphabet::any : Alphabet::others;
}

// Returns the first character of normalized text, which is valid UTF-8.
std::string_view first_character(std::string_view text) {
  return text.substr(0, announced_size(text[0]));
}

template <class Use>
void for_each_character(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    use(character);
    text.remove_prefix(character.size());
  }
}

// Sorts the words by text, and adds the counts of equal ones.
void merge_equal(std::vector<WordCount>& words) {
  heap_sort(words.begin(), words.end(),
            [](const WordCount& a, const WordCount& b) { return a.text < b.text; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (kept > 0 && words[kept - 1].text == words[i].text) {
      words[kept - 1].count += words[i].count;
    } else if (kept++ != i) {
      words[kept - 1] = std::move(words[i]);
    }
  }
  words.resize(kept);
}

}  // namespace

void WordCounter::add(std::string_view utf8) {
  Normalization normalization(normalizer_, utf8);
  const std::string& window = normalization.window().text;
  for (std::size_t size = window_bytes;;) {
    if (normalization.extend(size)) return add_normalized(window);
    const std::size_t end = window.rfind(space_symbol);
    if (end == 0 || end == window.npos) {
      size *= 2;
      continue;
    }
    add_normalized(std::string_view(window).substr(0, end));
    normalization.drop(end);
    size = window_bytes;
  }
}

void WordCounter::add_normalized(std::string_view text) {
  while (!text.empty()) {
    std::size_t size = symbol_size(text);
    if (size == 0) {
      size = word_size(text);
      ++counts_[std::string(text.substr(0, size))];
    }
    text.remove_prefix(size);
  }
}

// Returns the size of what is not part of a word at the start of `text`, or 0.
std::size_t WordCounter::symbol_size(std::string_view text) const {
  // SentencePiece cannot read a piece with NUL.
  return text[0] == '\0' ? 1 : symbols_.longest_prefix(text);
}

// Returns the size of the word at the start of `text`.
std::size_t WordCounter::word_size(std::string_view text) const {
  Alphabet alphabet = Alphabet::any;
  std::size_t size = 0;
  for (std::size_t length = 0; length < max_word_characters && size < text.size(); ++length) {
    const std::string_view rest = text.substr(size);
    const std::string_view character = first_character(rest);
    if (length > 0 && (character == space_symbol || symbol_size(rest) > 0)) break;
    const Alphabet next = alphabet_of(character);
    if (next != Alphabet::any) {
      if (alphabet != Alphabet::any && alphabet != next) break;
      alphabet = next;
    }
    size += character.size();
  }
  return size;
}

std::vector<WordCount> WordCounter::take() {
  std::vector<WordCount> words;
  words.reserve(counts_.size());
  while (!counts_.empty()) {
    auto entry = counts_.extract(counts_.begin());
    words.push_back({std::move(entry.key()), entry.mapped()});
  }
  merge_equal(words);
  return words;
}

std::vector<CharacterCount> frequent_characters(const std::vector<WordCount>& words,
                                                double coverage) {
  std::map<std::string_view, std::uint64_t> counts;
  std::uint64_t total = 0;
  for (const WordCount& word : words) {
    for_each_character(word.text, [&](std::string_view character) {
      counts[character] += word.count;
      total += word.count;
    });
  }
  std::vector<CharacterCount> characters;
  for (const auto& [text, count] : counts) characters.push_back({text, count});
  heap_sort(characters.begin(), characters.end(),
            [](const CharacterCount& a, const CharacterCount& b) {
              return a.count != b.count ? a.count > b.count : a.text < b.text;
            });
  std::uint64_t covered = 0;
  std::size_t kept = 0;
  while (kept < characters.size() &&
         static_cast<double>(covered) < coverage * static_cast<double>(total)) {
    covered += characters[kept++].count;
  }
  const auto rare = characters.begin() + static_cast<std::ptrdiff_t>(kept);
  const auto space = std::find_if(rare, characters.end(), [](const CharacterCount& character) {
    return character.text == space_symbol;
  });
  if (space != characters.end()) characters[kept++] = *space;
  characters.resize(kept);
  return characters;
}

std::vector<WordCount> keep_characters(const std::vector<WordCount>& words,
                                       const std::vector<CharacterCount>& kept) {
  std::set<std::string_view> known;
  for (const CharacterCount& character : kept) known.insert(character.text);
  std::vector<WordCount> result;
  for (const WordCount& word : words) {
    std::string part;
    const auto add_part = [&] {
      if (!part.empty()) result.push_back({std::move(part), word.count});
      part.clear();
    };
    for_each_character(word.text, [&](std::string_view character) {
      if (known.contains(character)) {
        part += character;
      } else {
        add_part();
      }
    });
    add_part();
  }
  merge_equal(result);
  return result;
}

}  // namespace glassformer
