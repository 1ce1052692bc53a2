#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/strings/utf8.hpp"
#include "support/text_fixture.hpp"
#include "text/training/character_map_writer.hpp"
#include "text/training/seed_pieces.hpp"
#include "text/training/unigram_estimator.hpp"
#include "text/training/word_counts.hpp"

// The steps of training a Unigram tokenizer.

namespace glassformer {
namespace {

using Catch::Matchers::WithinAbs;

std::map<std::string, std::uint64_t> words_in(std::string_view text, const Trie& symbols = {}) {
  const SentencePieceModel model;
  const Normalizer normalizer(model);
  WordCounter counter(normalizer, symbols);
  counter.add(text);
  std::map<std::string, std::uint64_t> words;
  for (const WordCount& word : counter.take()) words[word.text] = word.count;
  return words;
}

using Counts = std::map<std::string, std::uint64_t>;

TEST_CASE("words end at spaces and where the alphabet changes", "[text]") {
  CHECK(words_in("it is it") == Counts{{"\u2581it", 2}, {"\u2581is", 1}});
  CHECK(words_in("it's (3rd)") ==
        Counts{{"\u2581it", 1}, {"'", 1}, {"s", 1}, {"\u2581(3", 1}, {"rd", 1}, {")", 1}});
  CHECK(words_in("cafe\u0301 \u6771\u4EACabc") ==
        Counts{{"\u2581cafe\u0301", 1}, {"\u2581\u6771\u4EAC", 1}, {"abc", 1}});
  Trie symbols;
  symbols.insert("[X]", 0);
  CHECK(words_in("a[X]b [X]", symbols) == Counts{{"\u2581a", 1}, {"b", 1}, {"\u2581", 1}});
  CHECK(words_in(std::string("a\0b", 3)) == Counts{{"\u2581a", 1}, {"b", 1}});
  CHECK(words_in(std::string(600, 'x')).size() == 3);  // 256, 256 and 89 characters
}

TEST_CASE("a long text has the words of its parts", "[text]") {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "word" + std::string(1, "abcde"[i % 5]) + ' ';
  const Counts words = words_in(text);
  CHECK(words.size() == 5);
  for (const auto& [word, count] : words) CHECK(count == 10'000);
}

TEST_CASE("rare characters are cut out of words", "[text]") {
  const std::vector<WordCount> words{{"abc", 10}, {"axb", 1}, {"xc", 2}};
  const std::vector<CharacterCount> kept = frequent_characters(words, 0.9);
  std::string characters;
  for (const CharacterCount& character : kept) characters += character.text;
  CHECK(characters == "cab");  // 12, 11, 11 of 37; x has 3
  Counts left;
  for (const WordCount& word : keep_characters(words, kept)) left[word.text] = word.count;
  CHECK(left == Counts{{"abc", 10}, {"a", 1}, {"b", 1}, {"c", 2}});
}

// Counts every substring, and leaves out those that are always followed by the same character.
Counts count_substrings(const std::vector<WordCount>& words, std::size_t longest) {
  Counts counts;
  for (const WordCount& word : words) {
    for (std::size_t begin = 0; begin < word.text.size(); ++begin) {
      const std::size_t most = std::min(longest, word.text.size() - begin);
      for (std::size_t size = 1; size <= most; ++size) {
        counts[word.text.substr(begin, size)] += word.count;
      }
    }
  }
  Counts wanted;
  for (const auto& [text, count] : counts) {
    const bool replaced = std::any_of(
        counts.begin(), counts.end(), [&, &key = text, total = count](const auto& other) {
          return other.second == total && other.first.size() == key.size() + 1 &&
                 other.first.starts_with(key);
        });
    if (!replaced && text.size() > 1 && count > 1) wanted[text] = count;
  }
  return wanted;
}

TEST_CASE("substrings are counted as by trying each", "[text]") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::map<std::string, std::uint64_t> distinct;
    for (std::size_t n = 1 + random() % 8; n > 0; --n) {
      std::string text;
      for (std::size_t size = 1 + random() % 7; size > 0; --size) text += "abc"[random() % 3];
      distinct[text] = 1 + random() % 4;
    }
    std::vector<WordCount> words;
    for (const auto& [text, count] : distinct) words.push_back({text, count});
    const std::size_t longest = 2 + random() % 5;
    Counts found;
    for (const Substring& part : frequent_substrings(words, longest, 1000)) {
      CHECK(part.length == part.text.size());
      found[std::string(part.text)] = part.count;
    }
    CHECK(found == count_substrings(words, longest));
  }
}

TEST_CASE("the substrings with the most characters are kept, whole characters only", "[text]") {
  // The second bytes of \u00E9 and \u00E8 differ, their first are equal.
  const std::vector<WordCount> words{{"x\u00E8", 5}, {"x\u00E9", 4}, {"xyz", 5}};
  const std::vector<Substring> found = frequent_substrings(words, 16, 2);
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == "xyz");
  CHECK(found[0].length == 3);
  CHECK(found[1].text == "x\u00E8");  // of two with 10 characters, the first by its bytes
  CHECK(found[1].length == 2);
}

double score_of(const UnigramEstimator& estimator, std::string_view text) {
  for (const PieceEstimate& piece : estimator.pieces()) {
    if (piece.text == text) return piece.score;
  }
  return 0;
}

TEST_CASE("an iteration computes expected counts", "[text]") {
  const std::vector<WordCount> words{{"ab", 10}};
  const double third = -1.0986122886681098;
  UnigramEstimator estimator(
      words, {{"a", third, true}, {"b", third, true}, {"ab", third, false}, {"ba", third, false}});
  estimator.improve();
  // The probabilities are 1/9 of a, b and 1/3 of ab: 2.5 and 7.5 of 10 words. "ba" never occurs.
  CHECK(estimator.pieces().size() == 3);
  const double digamma_total = 2.4851956512749123;  // of 2.5 + 2.5 + 7.5
  CHECK_THAT(score_of(estimator, "a"), WithinAbs(0.7031566406452442 - digamma_total, 1e-10));
  CHECK_THAT(score_of(estimator, "b"), WithinAbs(0.7031566406452442 - digamma_total, 1e-10));
  CHECK_THAT(score_of(estimator, "ab"), WithinAbs(1.9467574842460866 - digamma_total, 1e-10));
}

TEST_CASE("long words of improbable pieces do not underflow", "[text]") {
  std::string text;
  for (int i = 0; i < 128; ++i) text += "ab";
  const std::vector<WordCount> words{{text, 1}};
  UnigramEstimator estimator(words, {{"a", -40, true}, {"b", -40, true}});  // e^-10240 in all
  estimator.improve();
  const double expected = 4.848118927687639 - 5.543223047915747;  // digamma of 128 and of 256
  CHECK_THAT(score_of(estimator, "a"), WithinAbs(expected, 1e-10));
  CHECK_THAT(score_of(estimator, "b"), WithinAbs(expected, 1e-10));
}

TEST_CASE("pruning keeps the required pieces and the most useful others", "[text]") {
  const std::vector<WordCount> words{{"ab", 10}, {"ac", 5}, {"bc", 1}};
  UnigramEstimator estimator(words, {{"a", -2, true},
                                     {"b", -2, true},
                                     {"c", -2, true},
                                     {"ab", -2, false},
                                     {"ac", -2, false},
                                     {"bc", -2, false},
                                     {"abc", -2, false}});
  estimator.prune(5);
  CHECK(estimator.pieces().size() == 5);
  CHECK(score_of(estimator, "ab") == -2);
  CHECK(score_of(estimator, "ac") == -2);
  estimator.prune(1);
  CHECK(estimator.pieces().size() == 3);
}

TEST_CASE("a character map has exactly the rules it was written from", "[text]") {
  CHECK(write_character_map({}).empty());
  const CharacterRules rules{{"a", "1"}, {"ab", "2"}, {"abcd", ""}, {"\u00E9", "e"}, {"\xFF", "1"}};
  const std::string blob = write_character_map(rules);
  const CharacterMap map(blob);
  for (const auto& [key, replacement] : rules) {
    const CharacterMap::Match match = map.longest_match(key);
    CHECK(match.size == key.size());
    CHECK(match.replacement == replacement);
  }
  CHECK(map.longest_match("abc").size == 2);
  CHECK(map.longest_match("b").size == 0);
  CHECK(map.longest_match("\u00E8").size == 0);
}

// Reads unit i of a character map.
std::uint32_t unit(const std::string& blob, std::size_t i) {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(blob[4 * i + 4 + byte]);
  }
  return value;
}

// Position 0 holds the root. With base 0, the root would be its own child.
TEST_CASE("no node of a character map has the root's position as its base", "[text]") {
  const std::string blob = write_character_map({{"\x01", ""}, {"\x01\x02", "a"}, {"b", "c"}});
  std::size_t nodes = 0;
  for (std::uint32_t i = 0; i < 256; ++i) {
    if (unit(blob, i) >> 31) continue;  // a value, or free
    CHECK((i ^ unit(blob, i) >> 10) != 0);
    ++nodes;
  }
  CHECK(nodes == 4);
}

TEST_CASE("normalization rules agree with those of the shipped tokenizer", "[text]") {
  const std::string shipped =
      test::read_text(GLASSFORMER_SOURCE_DIR "/weights/sentiment/tokenizer.model");
  const SentencePieceModel model = parse_sentencepiece_model(std::as_bytes(std::span(shipped)));
  const CharacterMap theirs(model.precompiled_charsmap);
  const std::string blob = write_character_map(normalization_rules(LetterCase::lower));
  const CharacterMap ours(blob);
  const auto replace = [](const CharacterMap& map, const std::string& key) {
    const CharacterMap::Match match = map.longest_match(key);
    return match.size == 0 ? key : std::string(match.replacement);
  };
  int different = 0;
  for (char32_t code = 1; code < 0x30000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string key;
    append_character(key, code);
    if (replace(ours, key) != replace(theirs, key)) ++different;
  }
  // Control characters above U+007F, U+FF5E, Cherokee, and characters newer than the library.
  CHECK(different < 500);
  CHECK(replace(ours, "E\u0301") == "\u00E9");
  CHECK(replace(ours, "\u01D5") == "\u01D6");
  CHECK(replace(ours, "U\u0308\u0304") == "\u01D6");
  CHECK(replace(ours, "\u00DC\u0304") == "\u01D6");
  CHECK(replace(ours, "\uFB01") == "fi");
  CHECK(replace(ours, "\u03C2") == "\u03C3");
  CHECK(replace(ours, "\u2003") == " ");
  CHECK(replace(ours, "\x01") == "");

  const std::string keeping = write_character_map(normalization_rules(LetterCase::keep));
  CHECK(replace(CharacterMap(keeping), "E\u0301") == "\u00C9");
  CHECK(replace(CharacterMap(keeping), "E") == "E");
}

}  // namespace
}  // namespace glassformer
