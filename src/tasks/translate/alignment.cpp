#include "tasks/translate/alignment.hpp"

#include <algorithm>
#include <string>

#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

// The kind of a UTF-16 unit of a text.
enum class WordKind : char { space, word, mark };

WordKind word_kind(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) {
    if (byte <= ' ') return WordKind::space;
    const bool word = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                      (byte >= 'a' && byte <= 'z');
    return word ? WordKind::word : WordKind::mark;
  }
  if (character == "\u00A0" || character == "\u202F" || character == "\u3000")
    return WordKind::space;
  const bool latin_mark = byte == 0xC2;  // U+0080 to U+00BF
  const bool general_mark = character >= "\u2000" && character < "\u2070";
  const bool cjk_mark = character >= "\u3000" && character < "\u3040";
  return latin_mark || general_mark || cjk_mark ? WordKind::mark : WordKind::word;
}

bool joins_letters(std::string_view character) {
  return character == "'" || character == "\u2019" || character == "-";
}

std::vector<WordKind> kinds_of(std::string_view text) {
  std::vector<WordKind> kinds;
  std::vector<std::size_t> joints;
  while (!text.empty()) {
    const std::size_t size = std::max<std::size_t>(valid_character_size(text), 1);
    const std::string_view character = text.substr(0, size);
    if (joins_letters(character)) joints.push_back(kinds.size());
    kinds.insert(kinds.end(), size == 4 ? 2 : 1, word_kind(character));
    text.remove_prefix(size);
  }
  for (const std::size_t i : joints) {  // don't, twenty-one
    if (i > 0 && i + 1 < kinds.size() && kinds[i - 1] == WordKind::word &&
        kinds[i + 1] == WordKind::word) {
      kinds[i] = WordKind::word;
    }
  }
  return kinds;
}

}  // namespace

std::vector<Word> words_of(std::string_view text, std::span<const TextRange> ranges) {
  const std::vector<WordKind> kinds = kinds_of(text);
  std::vector<Word> words;
  WordKind last = WordKind::space;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const TextRange range = ranges[i];
    const WordKind* begin = kinds.data() + range.start;
    const WordKind* end = kinds.data() + range.end;
    WordKind kind = WordKind::space;
    if (std::find(begin, end, WordKind::mark) != end) kind = WordKind::mark;
    if (std::find(begin, end, WordKind::word) != end) kind = WordKind::word;
    if (kind == WordKind::space) continue;
    if (!words.empty() && kind == last && words.back().range.end == range.start) {
      words.back().last = i;
      words.back().range.end = range.end;
    } else {
      words.push_back({i, i, range});
    }
    last = kind;
  }
  return words;
}

std::vector<AlignmentLink> align(const AttentionMap& cross, const AlignmentOptions& options,
                                 std::span<const Word> target, std::span<const Word> source) {
  const std::size_t layer = options.layer.value_or(cross.layers - 1);
  std::vector<std::size_t> heads = options.heads;
  for (std::size_t head = 0; heads.size() < cross.heads && options.heads.empty(); ++head) {
    heads.push_back(head);
  }
  std::vector<AlignmentLink> links;
  std::vector<float> shares(source.size());
  for (const Word& word : target) {
    std::fill(shares.begin(), shares.end(), 0.0f);
    const auto rows = static_cast<float>(heads.size() * (word.last - word.first + 1));
    for (const std::size_t head : heads) {
      const std::span<const float> weights = cross.at(layer, head);  // [T, S]
      for (std::size_t row = word.first; row <= word.last; ++row) {
        for (std::size_t i = 0; i < source.size(); ++i) {
          for (std::size_t key = source[i].first; key <= source[i].last; ++key) {
            shares[i] += weights[row * cross.keys + key] / rows;
          }
        }
      }
    }
    if (shares.empty()) continue;
    const float most = *std::max_element(shares.begin(), shares.end());
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (shares[i] > 0 && shares[i] >= most / 2) {
        links.push_back({word.range, source[i].range, shares[i]});
      }
    }
  }
  return links;
}

}  // namespace glassformer
