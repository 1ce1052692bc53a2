#include "text/training/unigram_trainer.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "support/io_fixture.hpp"
#include "support/text_fixture.hpp"

namespace glassformer {
namespace {

using SpecialRole = SpecialPiece::Role;
using Pieces = std::vector<std::string>;

std::vector<std::byte> train_file(const std::vector<std::string>& texts,
                                  const UnigramTrainingOptions& options) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return train_unigram(views, options);
}

SentencePieceTokenizer train(const std::vector<std::string>& texts,
                             const UnigramTrainingOptions& options) {
  return SentencePieceTokenizer::parse(train_file(texts, options));
}

Pieces pieces_in(const Tokenizer& tokenizer, std::string_view text) {
  Pieces pieces;
  for (const Token& token : tokenizer.encode(text)) pieces.emplace_back(tokenizer.piece(token.id));
  return pieces;
}

// Returns the learned pieces of more than one character, sorted.
Pieces long_pieces(const SentencePieceTokenizer& tokenizer) {
  Pieces pieces;
  for (const Piece& piece : tokenizer.model().pieces) {
    const bool is_long = utf16_size(piece.text) > 1;
    if (piece.type == PieceType::normal && is_long) pieces.emplace_back(piece.text);
  }
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

// Each form is rarer than its stem and its ending.
std::vector<std::string> verb_forms() {
  std::vector<std::string> texts;
  for (const std::string stem : {"walk", "jump", "cook", "play"}) {
    for (const std::string ending : {"", "ing", "ed", "s"}) {
      texts.push_back(stem + ending);
    }
  }
  return texts;
}

std::size_t characters_of_verb_forms() {
  return std::string_view("walkjumpcoyingeds").size() + 1;  // and the space
}

TEST_CASE("training finds the words that texts repeat", "[text]") {
  std::vector<std::string> texts(100, "hello");
  texts.resize(160, "world");
  const SentencePieceTokenizer tokenizer = train(texts, {.vocab_size = 3 + 8 + 2});
  CHECK(tokenizer.size() == 13);
  CHECK(long_pieces(tokenizer) == Pieces{"\u2581hello", "\u2581world"});
  CHECK(pieces_in(tokenizer, "hello world hell") ==
        Pieces{"\u2581hello", "\u2581world", "\u2581", "h", "e", "l", "l"});
  CHECK(tokenizer.piece(0) == "<unk>");
  CHECK(tokenizer.piece(1) == "<s>");
  CHECK(tokenizer.piece(2) == "</s>");
  CHECK(tokenizer.piece(3) == "\u2581hello");  // the most probable
}

TEST_CASE("training finds stems and endings", "[text]") {
  const SentencePieceTokenizer tokenizer =
      train(verb_forms(), {.vocab_size = 3 + characters_of_verb_forms() + 6});
  CHECK(long_pieces(tokenizer) ==
        Pieces{"ed", "ing", "\u2581cook", "\u2581jump", "\u2581play", "\u2581walk"});
  CHECK(pieces_in(tokenizer, "playing walked") == Pieces{"\u2581play", "ing", "\u2581walk", "ed"});
}

TEST_CASE("a short text gives fewer pieces than asked for", "[text]") {
  const SentencePieceTokenizer tokenizer = train({"to be or not to be"}, {});
  CHECK(tokenizer.size() == 3 + 7 + 2);
  CHECK(long_pieces(tokenizer) == Pieces{"\u2581be", "\u2581to"});
}

TEST_CASE("the trained file does not depend on the order of texts or the machine", "[text]") {
  std::vector<std::string> texts = test::committed_texts();
  const std::vector<std::byte> file = train_file(texts, {.vocab_size = 1200});
  std::shuffle(texts.begin(), texts.end(), std::mt19937(5));
  CHECK(train_file(texts, {.vocab_size = 1200}) == file);

  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const std::byte byte : file) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3;
  }
  CHECK(hash == 0xA9B788F33C96E0E6);
}

TEST_CASE("decoding returns the normalized training texts", "[text]") {
  const std::vector<std::string> texts = test::committed_texts();
  const bool lower_case = GENERATE(false, true);
  const SentencePieceTokenizer tokenizer =
      train(texts, {.vocab_size = 1200, .lower_case = lower_case, .byte_fallback = true});
  CHECK(tokenizer.size() == 1200);
  for (const std::string& text : texts) {
    std::string expected = with_spaces(tokenizer.normalize(text));
    if (!expected.empty()) expected.erase(0, 1);  // the prefix
    INFO(text);
    CHECK(tokenizer.decode(test::ids_of(tokenizer.encode(text))) == expected);
  }
}

TEST_CASE("special pieces get the ids of their positions", "[text]") {
  const SentencePieceTokenizer tokenizer = train(verb_forms(), {.vocab_size = 100,
                                                                .special_pieces = {
                                                                    {"<pad>", SpecialRole::padding},
                                                                    {"[UNK]", SpecialRole::unknown},
                                                                    {"[CLS]", SpecialRole::control},
                                                                    {"walk", SpecialRole::symbol},
                                                                }});
  const std::vector<Piece>& pieces = tokenizer.model().pieces;
  CHECK(pieces[0].type == PieceType::control);
  CHECK(pieces[1].type == PieceType::unknown);
  CHECK(pieces[2].type == PieceType::control);
  CHECK(pieces[3].type == PieceType::user_defined);
  CHECK(tokenizer.unk_id() == 1);
  // No learned piece contains a symbol.
  CHECK(pieces_in(tokenizer, "walked") == Pieces{"\u2581", "walk", "ed"});
  CHECK(tokenizer.find("\u2581walk") == std::nullopt);
  CHECK(tokenizer.find("\u2581jump").has_value());
}

TEST_CASE("options limit the pieces", "[text]") {
  const SentencePieceTokenizer short_pieces = train(verb_forms(), {.longest_piece = 3});
  for (const Piece& piece : short_pieces.model().pieces) {
    if (piece.type == PieceType::normal) CHECK(utf16_size(piece.text) <= 3);
  }
  // "z" is one of 401 characters.
  std::vector<std::string> texts(100, "abc");
  texts.back() += 'z';
  CHECK(train(texts, {.character_coverage = 1}).find("z").has_value());
  const SentencePieceTokenizer tokenizer = train(texts, {.character_coverage = 0.99f});
  CHECK(tokenizer.find("z") == std::nullopt);
  CHECK(pieces_in(tokenizer, "abcz") == Pieces{"\u2581abc", "<unk>"});
  CHECK(pieces_in(train(texts, {.character_coverage = 0.99f, .byte_fallback = true}), "abcz") ==
        Pieces{"\u2581abc", "<0x7A>"});
}

TEST_CASE("texts without words and options without a meaning are refused", "[text]") {
  const auto check_refused = [](const std::string& message, const UnigramTrainingOptions& options) {
    test::check_error(ErrorCode::invalid_option, message, [&] { train_file({"hello"}, options); });
  };
  check_refused("vocab_size: expected 1 to 100000, got 0", {.vocab_size = 0});
  check_refused("vocab_size: expected at least 8 for 3 special pieces and 5 characters, got 7",
                {.vocab_size = 7});
  check_refused("character_coverage: expected", {.character_coverage = 0});
  check_refused("character_coverage: expected", {.character_coverage = 1.5f});
  check_refused("longest_piece: expected 1 to 64, got 65", {.longest_piece = 65});
  check_refused("expected an unknown piece, got none",
                {.special_pieces = {{"<s>", SpecialRole::begin}}});
  check_refused("\"u\" in addition",
                {.special_pieces = {{"<unk>", SpecialRole::unknown}, {"u", SpecialRole::unknown}}});
  check_refused("\"<unk>\" twice", {.special_pieces = {{"<unk>", SpecialRole::unknown},
                                                       {"<unk>", SpecialRole::control}}});
  check_refused("got \"\"",
                {.special_pieces = {{"<unk>", SpecialRole::unknown}, {"", SpecialRole::control}}});
  check_refused("\"<0x41>\"", {.special_pieces = {{"<unk>", SpecialRole::unknown},
                                                  {"<0x41>", SpecialRole::control}}});
  CHECK_NOTHROW(train_file({"hello"}, {.vocab_size = 8}));
  for (const std::vector<std::string>& texts : {Pieces{}, Pieces{""}, Pieces{" ", "\t\n"}}) {
    test::check_error(ErrorCode::empty_input, "texts", [&] { train_file(texts, {}); });
  }
}

TEST_CASE("texts without spaces and random bytes can be trained on", "[text]") {
  std::string letters;
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) letters += static_cast<char>('a' + random() % 26);
  const SentencePieceTokenizer tokenizer = train({letters}, {.vocab_size = 200});
  CHECK(tokenizer.size() <= 200);
  const std::string decoded = tokenizer.decode(test::ids_of(tokenizer.encode(letters)));
  CHECK((decoded == letters));  // not printed, because it is long
  CHECK_NOTHROW(train(test::random_texts(300), {.vocab_size = 1000}));
}

}  // namespace
}  // namespace glassformer
