#include "text/sentencepiece/tokenizer.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <ctime>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "support/text_fixture.hpp"

namespace glassformer {
namespace {

using test::committed_texts;
using test::tokenizer_named;

std::string generated_model() { return GENERATE(from_range(test::tokenizer_models)); }

TEST_CASE("ids and decoded text match SentencePiece", "[text]") {
  const std::string name = generated_model();
  const SentencePieceTokenizer tokenizer = tokenizer_named(name);
  const std::vector<std::string> texts = committed_texts();
  const auto expected = test::lines_of(test::read_text(test::tokenizer_folder + name + ".tsv"));
  REQUIRE(texts.size() > 300);
  REQUIRE(expected.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(name << ", text " << i << ": " << texts[i]);
    const std::vector<std::int32_t> ids = test::ids_of(tokenizer.encode(texts[i]));
    const std::size_t tab = expected[i].find('\t');
    CHECK(test::join(ids) == expected[i].substr(0, tab));
    CHECK(tokenizer.decode(ids) == test::unescape(expected[i].substr(tab + 1)));
  }
}

std::string without_spaces_around(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

TEST_CASE("decoding returns the normalized text", "[text]") {
  // Models with byte fallback encode every character.
  const std::string name = GENERATE("unigram_bytes", "bpe_bytes");
  const SentencePieceTokenizer tokenizer = tokenizer_named(name);
  std::vector<std::string> texts = committed_texts();
  for (const std::string& text : test::random_texts(500)) texts.push_back(text);
  for (const std::string& text : texts) {
    std::string expected = tokenizer.normalize(text);
    for (std::size_t at; (at = expected.find(space_symbol)) != expected.npos;) {
      expected.replace(at, space_symbol.size(), " ");
    }
    INFO(name << ": " << text);
    CHECK(without_spaces_around(tokenizer.decode(test::ids_of(tokenizer.encode(text)))) ==
          without_spaces_around(expected));
  }
}

// Returns the byte offset of each UTF-16 code unit of the text, and the text's end.
std::vector<std::size_t> byte_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = valid_character_size(text.substr(i));
    offsets.push_back(i);
    if (size == 4) offsets.push_back(i);
    i += std::max<std::size_t>(size, 1);
  }
  offsets.push_back(text.size());
  return offsets;
}

TEST_CASE("ranges ascend, stay within the text and omit only white space", "[text]") {
  const std::string name = generated_model();
  const SentencePieceTokenizer tokenizer = tokenizer_named(name);
  std::vector<std::string> texts = committed_texts();
  for (const std::string& text : test::random_texts(500)) texts.push_back(text);
  for (const std::string& text : texts) {
    INFO(name << ": " << text);
    const std::vector<std::size_t> bytes = byte_offsets(text);
    REQUIRE(bytes.size() == utf16_size(text) + 1);
    std::size_t position = 0;
    const auto check_gap = [&](std::size_t end) {
      const std::string gap = text.substr(bytes[position], bytes[end] - bytes[position]);
      std::string normalized = tokenizer.normalize(gap);
      while (normalized.starts_with(space_symbol)) normalized.erase(0, space_symbol.size());
      CHECK(normalized.empty());
    };
    for (const Token& token : tokenizer.encode(text)) {
      REQUIRE(token.start >= position);
      REQUIRE(token.end >= token.start);
      REQUIRE(token.end < bytes.size());
      check_gap(token.start);
      position = token.end;
    }
    check_gap(bytes.size() - 1);
  }
}

// Returns the part of the text that each token covers: "[The][ film]".
std::vector<std::string> covered(const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<std::size_t> bytes = byte_offsets(text);
  std::vector<std::string> parts;
  for (const Token& token : tokenizer.encode(text)) {
    parts.push_back(text.substr(bytes[token.start], bytes[token.end] - bytes[token.start]));
  }
  return parts;
}

using Parts = std::vector<std::string>;

TEST_CASE("a token covers its characters without the space before them", "[text]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram");
  std::string text = "  The   film, loved  ";
  std::string joined;
  for (const std::string& part : covered(tokenizer, text)) joined += part;
  CHECK(joined == "Thefilm,loved");

  // U+1F600 is two code units.
  const std::vector<Token> tokens = tokenizer.encode("😀 film");
  REQUIRE(!tokens.empty());
  CHECK(tokens.back().end == 7);
}

TEST_CASE("one piece of a character, or of characters that become one, covers the source text",
          "[text]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram_bytes");
  // The ligature becomes the user-defined piece's neighbors f and i; only one of them covers it.
  const Parts ligature = covered(tokenizer, "ﬁ");
  CHECK(std::count(ligature.begin(), ligature.end(), "ﬁ") == 1);
  CHECK(std::count(ligature.begin(), ligature.end(), "") ==
        static_cast<std::ptrdiff_t>(ligature.size()) - 1);

  // e and U+0301 become é.
  const Parts accent = covered(tokenizer, "e\u0301");
  CHECK(std::count(accent.begin(), accent.end(), "e\u0301") == 1);

  // An unknown character becomes bytes; the first piece with a byte covers it.
  const Parts bytes = covered(tokenizer, "\u2603");
  REQUIRE(bytes.size() == 4);
  CHECK(bytes == Parts{"", "\u2603", "", ""});

  // The prefix is a separate piece here and covers no text.
  CHECK(covered(tokenizer, "x<mask>y") == Parts{"", "x", "<mask>", "y"});
}

TEST_CASE("white space at the end of a text does not change its tokens", "[text]") {
  for (const char* name : {"unigram", "unigram_bytes", "bpe", "bpe_bytes", "suffix"}) {
    const SentencePieceTokenizer tokenizer = tokenizer_named(name);
    bool alone = false;  // a last token that is only the suffix, which is not in the input
    for (const std::string text : {"film", "The film, loved", "\u6F22", "a \u6F22", "x \u00C4q"}) {
      const std::vector<Token> tokens = tokenizer.encode(text);
      CHECK(tokenizer.encode(text + "   ") == tokens);
      alone = alone || tokens.back().start == tokens.back().end;
    }
    INFO(name);
    if (name == std::string("suffix")) CHECK(alone);
  }
}

TEST_CASE("texts that are empty or only white space have no tokens", "[text]") {
  for (const char* name : {"unigram", "unigram_bytes", "bpe", "bpe_bytes", "suffix"}) {
    const SentencePieceTokenizer tokenizer = tokenizer_named(name);
    for (const char* text : {"", " ", "      "}) CHECK(tokenizer.encode(text).empty());
  }
  CHECK(tokenizer_named("unigram").encode(" \t\r\n \u3000\u200b").empty());
}

TEST_CASE("a long text takes time linear in its length", "[text]") {
  const std::string name = generated_model();
  const SentencePieceTokenizer tokenizer = tokenizer_named(name);
  const auto seconds = [&](const std::string& text) {
    const std::clock_t start = std::clock();  // processor time, since the machine may be busy
    CHECK(tokenizer.encode(text).size() <= 3 * text.size() + 1);  // U+FFFD, byte by byte
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const auto repeat = [](std::string_view text, std::size_t size) {
    std::string result;
    while (result.size() < size) result += text;
    return result;
  };
  for (const char* unit : {"a", "film ", "漢字", "ab", "\u0301", "\u2581", "1", "\xff", "😀"}) {
    // Quadratic time would be 256 times as long; the constant makes the test robust on slow
    // machines.
    const double once = seconds(repeat(unit, 1 << 14));
    const double sixteen_times = seconds(repeat(unit, 1 << 18));
    INFO(name << ", repeated " << unit << ": " << once << " s, " << sixteen_times << " s");
    CHECK(sixteen_times < 64 * once + 1);
  }
  const std::string text = test::long_text();
  const std::vector<Token> tokens = tokenizer.encode(text);
  CHECK(tokens.back().end <= utf16_size(text));
}

TEST_CASE("pieces are found by text and by id", "[text]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram_bytes");
  CHECK(tokenizer.size() == 600);
  CHECK(tokenizer.unk_id() == 0);
  CHECK(tokenizer.find("<s>") == 1);
  CHECK(tokenizer.piece(1) == "<s>");
  CHECK(tokenizer.find("<0x41>").has_value());
  CHECK(tokenizer.find("no such piece") == std::nullopt);
  CHECK_THROWS_MATCHES(tokenizer.piece(600), Error,
                       Catch::Matchers::Message("token id: expected 0 to 599, got 600"));
  CHECK_THROWS_AS(tokenizer.piece(-1), Error);
  const std::vector<std::int32_t> outside{3, 600};
  CHECK_THROWS_AS(tokenizer.decode(outside), Error);
}

}  // namespace
}  // namespace glassformer
