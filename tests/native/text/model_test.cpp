#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/strings/utf8.hpp"
#include "support/io_fixture.hpp"
#include "support/text_fixture.hpp"
#include "text/sentencepiece/normalizer.hpp"
#include "text/trie.hpp"

// Small handmade SentencePiece models: cases that no trained model has, and every malformed one.

namespace glassformer {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string number(std::uint32_t field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}

std::string bytes(std::uint32_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

std::string float32(std::uint32_t field, float value) {
  std::string stored(sizeof value, '\0');
  std::memcpy(stored.data(), &value, sizeof value);
  return varint(field << 3 | 5) + stored;
}

std::string u32(std::uint32_t value) {
  std::string stored(sizeof value, '\0');
  std::memcpy(stored.data(), &value, sizeof value);
  return stored;
}

std::string piece(const std::string& text, float score, PieceType type = PieceType::normal) {
  return bytes(1, bytes(1, text) + float32(2, score) +
                      (type == PieceType::normal ? "" : number(3, static_cast<int>(type))));
}

const std::string unk = piece("<unk>", 0, PieceType::unknown);
const std::string letters = piece("\u2581", -3) + piece("a", -3) + piece("b", -3) + piece("c", -3);
const std::string bpe = bytes(2, number(3, 2));

std::string all_bytes() {
  std::string pieces;
  for (int i = 0; i < 256; ++i) {
    const std::string digits = "0123456789ABCDEF";
    const auto digit = [&](int value) { return digits[static_cast<std::size_t>(value)]; };
    pieces += piece(std::string("<0x") + digit(i / 16) + digit(i % 16) + ">", 0, PieceType::byte);
  }
  return pieces;
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> pieces;
  for (const Token& token : tokenizer.encode(text)) pieces.emplace_back(tokenizer.piece(token.id));
  return pieces;
}

using Pieces = std::vector<std::string>;

void check_error(const std::string& model, ErrorCode code, const std::string& message) {
  test::check_error(code, message, [&] { test::parse_tokenizer(model); });
}

void check_invalid(const std::string& model, const std::string& message) {
  check_error(model, ErrorCode::invalid_tokenizer, message);
}

TEST_CASE("malformed protocol buffers are refused", "[text]") {
  check_invalid("", "expected one unknown piece, got 0");
  check_invalid(std::string(1, '\0'), "a field number out of range");
  check_invalid("\x0a", "a value that runs past the end");
  check_invalid("\x0a\x05zz", "a value that runs past the end");
  check_invalid(unk + "\xff", "a value that runs past the end");
  check_invalid(std::string(11, '\xff'), "a number of more than ten bytes");
  check_invalid(unk + "\x0b", "an unknown wire type");  // a group
  check_invalid(unk + "\x0f", "an unknown wire type");
  check_invalid(unk + "\x0d" + "abcd", "a value of another wire type");
  check_invalid(unk + number(1, 7), "a value of another wire type");
  check_invalid(unk + bytes(1, number(1, 7)), "a value of another wire type");
  check_invalid(unk + bytes(2, bytes(3, "x")), "a value of another wire type");
  check_invalid(bytes(1, std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)),
                "a value that runs past the end");
  CHECK_NOTHROW(test::parse_tokenizer(unk));
  for (std::size_t size = 0; size < unk.size(); ++size) {
    CHECK_THROWS_AS(test::parse_tokenizer(unk.substr(0, size)), Error);
  }
}

TEST_CASE("unknown fields are skipped, and negative ids are read", "[text]") {
  const std::string extra = number(99, 5) + bytes(100, "xyz") + float32(101, 2) +
                            varint(102 << 3 | 1) + std::string(8, 'x');
  const std::string trainer = bytes(2, extra + number(43, -1) + number(3, 1) + extra);
  const SentencePieceTokenizer tokenizer =
      test::parse_tokenizer(extra + unk + letters + trainer + extra);
  CHECK(tokenizer.size() == 5);
  CHECK(pieces_of(tokenizer, "ab") == Pieces{"\u2581", "a", "b"});
}

TEST_CASE("contradictory vocabularies are refused", "[text]") {
  check_invalid(letters, "expected one unknown piece, got 0");
  check_invalid(unk + piece("<u>", 0, PieceType::unknown), "expected one unknown piece, got 2");
  check_invalid(unk + letters + piece("a", -1), "piece \"a\" appears twice");
  check_invalid(unk + letters + piece("a", -1, PieceType::user_defined), "appears twice");
  check_invalid(unk + piece("<unk>", 0, PieceType::control), "piece \"<unk>\" appears twice");
  check_invalid(unk + piece("", -1), "piece 1: expected a text");
  check_invalid(unk + piece("\xff", -1), "piece 1: expected UTF-8");
  check_invalid(unk + piece("x", std::numeric_limits<float>::quiet_NaN()), "a finite score");
  check_invalid(unk + piece("x", std::numeric_limits<float>::infinity()), "a finite score");
  check_invalid(unk + bytes(1, bytes(1, "x") + number(3, 7)), "expected a type from 1 to 6, got 7");
  const std::string fallback = bytes(2, number(35, 1));
  check_invalid(unk + piece("<0x41>", 0, PieceType::byte), "no byte piece without byte_fallback");
  check_invalid(unk + fallback + piece("<0x41>", 0, PieceType::byte), "256 byte pieces");
  check_invalid(unk + fallback + all_bytes() + piece("<0xgg>", 0, PieceType::byte), "a byte piece");
  CHECK_NOTHROW(test::parse_tokenizer(unk + fallback + all_bytes()));
  // A control piece may have the same text as a normal one.
  CHECK_NOTHROW(test::parse_tokenizer(unk + letters + piece("a", 0, PieceType::control)));

  check_error(unk + bytes(2, number(3, 3)), ErrorCode::unsupported, "model type");
  check_error(unk + bytes(5, bytes(2, "map")), ErrorCode::unsupported, "denormalizer_spec");
}

std::string with_map(const std::string& map) { return unk + letters + bytes(3, bytes(2, map)); }

TEST_CASE("malformed character maps are refused or never read out of bounds", "[text]") {
  check_invalid(with_map("abc"), "at least 4 bytes");
  check_invalid(with_map(u32(0) + "abc"), "a size of 0");
  check_invalid(with_map(u32(3) + "abc"), "a size of 3");
  check_invalid(with_map(u32(8) + "abcd"), "a size of 8");
  check_invalid(with_map(u32(0xFFFFFFFC) + "abcd"), "a size of 4294967292");
  check_invalid(with_map(u32(4) + u32(0) + "no end"), "replacements");
  check_invalid(with_map(u32(4) + u32(0) + std::string(2000, 'x') + '\0'), "replacements");
  // The root's children are far out of bounds.
  check_invalid(with_map(u32(4) + u32(0xFFFFFE00)), "points outside of the array");

  // Returns a map from "a" (0x61) to the replacement at a given position: the root's children start
  // at 0x100, the key's leaf is at 0x200.
  const auto one_rule = [](std::uint32_t value) {
    std::vector<std::uint32_t> units(0x300);
    units[0] = 0x100 << 10;
    units[0x161] = (0x161 ^ 0x200) << 10 | 0x100 | 0x61;
    units[0x200] = 0x80000000 | value;
    std::string map = u32(static_cast<std::uint32_t>(units.size() * 4));
    for (const std::uint32_t unit : units) map += u32(unit);
    return map + std::string("b\0c\0", 4);
  };
  CHECK(pieces_of(test::parse_tokenizer(with_map(one_rule(2))), "a") == Pieces{"\u2581", "c"});
  check_invalid(with_map(one_rule(4)), "points outside of the replacements");
}

TEST_CASE("Unigram finds the best sum of scores, and the earliest start among equals", "[text]") {
  const SentencePieceTokenizer tokenizer =
      test::parse_tokenizer(unk + letters + piece("ab", -5) + piece("bc", -4) + piece("cc", -6));
  CHECK(pieces_of(tokenizer, "abc") == Pieces{"\u2581", "a", "bc"});  // -7 against -8
  CHECK(pieces_of(tokenizer, "ab") == Pieces{"\u2581", "ab"});        // -5 against -6
  CHECK(pieces_of(tokenizer, "cc") == Pieces{"\u2581", "cc"});        // -6 against -6
  // Adjacent unknown characters become one token.
  CHECK(pieces_of(tokenizer, "xyza") == Pieces{"\u2581", "<unk>", "a"});
}

// Returns the best sum over all segmentations of `text`, by recursion; Viterbi must find the same.
double best_sum(const std::map<std::string, double>& scores, std::string_view text) {
  if (text.empty()) return 0;
  double best = -1e9;
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const auto found = scores.find(std::string(text.substr(0, size)));
    if (found == scores.end()) continue;
    best = std::max(best, found->second + best_sum(scores, text.substr(size)));
  }
  return best;
}

TEST_CASE("Unigram agrees with trying every segmentation", "[text]") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::map<std::string, double> scores{{"\u2581", -3}, {"a", -3}, {"b", -3}, {"c", -3}};
    std::string model = unk + letters;
    for (int i = 0; i < 10; ++i) {
      std::string text;
      for (std::size_t n = 2 + random() % 3; n > 0; --n) text += "abc"[random() % 3];
      const float score = -static_cast<float>(random() % 1000) / 100;
      if (scores.emplace(text, score).second) model += piece(text, score);
    }
    const SentencePieceTokenizer tokenizer = test::parse_tokenizer(model);
    std::string word;
    for (std::size_t n = random() % 12; n > 0; --n) word += "abc"[random() % 3];
    double sum = 0;
    for (const std::string& text : pieces_of(tokenizer, word)) sum += scores.at(text);
    const double expected = word.empty() ? 0 : -3 + best_sum(scores, word);
    CHECK(std::abs(sum - expected) < 1e-4);
  }
}

TEST_CASE("BPE merges the best pair first, the leftmost among equals", "[text]") {
  const SentencePieceTokenizer tokenizer = test::parse_tokenizer(
      unk + letters + piece("ab", -2) + piece("bc", -1) + piece("aa", -4) + bpe);
  CHECK(pieces_of(tokenizer, "abc") == Pieces{"\u2581", "a", "bc"});
  CHECK(pieces_of(tokenizer, "aaa") == Pieces{"\u2581", "aa", "a"});
  CHECK(pieces_of(tokenizer, "abxx") == Pieces{"\u2581", "ab", "<unk>"});
}

TEST_CASE("unused pieces are split again", "[text]") {
  const std::string pieces = unk + letters + piece("ab", -1, PieceType::unused) + piece("abc", -2);
  CHECK(pieces_of(test::parse_tokenizer(pieces + bpe), "abab abc") ==
        Pieces{"\u2581", "a", "b", "a", "b", "\u2581", "abc"});
  CHECK(pieces_of(test::parse_tokenizer(pieces), "ab abc") ==
        Pieces{"\u2581", "a", "b", "\u2581", "abc"});
}

TEST_CASE("user-defined pieces are found whatever their score", "[text]") {
  const std::string pieces =
      unk + letters + piece("abc", -0.001f) + piece("bc", -99, PieceType::user_defined);
  CHECK(pieces_of(test::parse_tokenizer(pieces + bpe), "abc") == Pieces{"\u2581", "a", "bc"});
}

TEST_CASE("bytes that are no valid character decode to U+FFFD", "[text]") {
  const SentencePieceTokenizer tokenizer =
      test::parse_tokenizer(unk + letters + all_bytes() + bytes(2, number(35, 1)));
  const auto id = [&](const char* text) { return *tokenizer.find(text); };
  const std::vector<std::int32_t> ids{id("a"),      id("<0xC3>"), id("<0xA9>"), id("<0xC3>"),
                                      id("\u2581"), id("<0xA9>"), id("b"),      0};
  CHECK(tokenizer.decode(ids) == "aé\uFFFD \uFFFDb \u2047 ");
}

TEST_CASE("the trie agrees with a map", "[text]") {
  std::mt19937 random(11);
  std::map<std::string, std::int32_t> expected;
  for (std::int32_t i = 0; i < 5000; ++i) {
    std::string key;
    const bool narrow = random() % 2 == 0;
    for (std::size_t n = 1 + random() % 8; n > 0; --n) {
      key += static_cast<char>(narrow ? random() % 3 : random() % 256);
    }
    expected.emplace(key, i);
  }
  Trie trie;
  for (const auto& [key, value] : expected) trie.insert(key, value);
  for (const auto& [key, value] : expected) {
    const Trie::Node node = trie.descend(Trie::root, key);
    REQUIRE(node != Trie::absent);
    CHECK(trie.value(node) == value);
    CHECK(trie.longest_prefix(key) == key.size());
  }
  for (int i = 0; i < 5000; ++i) {
    std::string key;
    for (std::size_t n = random() % 6; n > 0; --n) key += static_cast<char>(random() % 256);
    const Trie::Node node = trie.descend(Trie::root, key);
    const bool found = node != Trie::absent && trie.value(node) >= 0;
    CHECK(found == expected.contains(key));
  }
  CHECK(Trie().longest_prefix("abc") == 0);
}

TEST_CASE("UTF-8 validity follows the Unicode standard's table 3-7", "[text]") {
  CHECK(is_valid_utf8("a\u00e9\u20ac\U0001F600\U0010FFFF\uFFFD"));
  for (const char* text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    CHECK_FALSE(is_valid_utf8(text));
  }
  CHECK(utf16_size("a\u00e9\u20ac\U0001F600\xFF") == 6);
}

}  // namespace
}  // namespace glassformer
