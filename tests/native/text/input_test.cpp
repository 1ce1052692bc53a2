// A model's input for one or two texts: templates and truncation.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "support/text_fixture.hpp"
#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/tokenizer_json.hpp"
#include "text/model_input.hpp"
#include "text/truncation.hpp"

namespace glassformer {
namespace {

ComposedTokenizer composed(const std::string& name) {
  return ComposedTokenizer(parse_tokenizer_json(
      test::read_text(GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizers/" + name + ".json")));
}

// Returns a template's result as one line: "id:type@place".
std::string shown(const ModelInput& input) {
  std::string line;
  for (std::size_t i = 0; i < input.tokens.size(); ++i) {
    line += (i > 0 ? " " : "") + std::to_string(input.tokens[i].id) + ":" +
            std::to_string(input.types[i]) + "@" + std::to_string(input.tokens[i].start) + "-" +
            std::to_string(input.tokens[i].end);
  }
  return line;
}

const std::vector<Token> film{{20, 0, 4}, {21, 5, 9}};
const std::vector<Token> good{{30, 0, 3}};

}  // namespace

TEST_CASE("a template puts special tokens around one text", "[text][input]") {
  const TokenTemplate bert = surrounded(2, 3, Separator::once_with_types);
  const ModelInput input = fill(bert.single, film);
  CHECK(shown(input) == "2:0@0-0 20:0@0-4 21:0@5-9 3:0@9-9");
  using enum TemplatePart::Kind;
  CHECK(input.kinds == std::vector<TemplatePart::Kind>{special, first_text, first_text, special});
  CHECK(special_tokens_of(bert.single) == 2);
  CHECK(shown(fill(bert.single, {})) == "2:0@0-0 3:0@0-0");
}

TEST_CASE("a template joins two texts, each with its token type", "[text][input]") {
  // BERT: [CLS] A [SEP] B [SEP], types 0 and 1. RoBERTa: <s> A </s></s> B </s>, types 0.
  const TokenTemplate bert = surrounded(2, 3, Separator::once_with_types);
  const ModelInput input = fill(bert.pair, film, good);
  CHECK(shown(input) == "2:0@0-0 20:0@0-4 21:0@5-9 3:0@9-9 30:1@0-3 3:1@3-3");
  using enum TemplatePart::Kind;
  CHECK(input.kinds == std::vector<TemplatePart::Kind>{special, first_text, first_text, special,
                                                       second_text, special});
  const TokenTemplate roberta = surrounded(0, 2, Separator::twice);
  CHECK(shown(fill(roberta.pair, film, good)) ==
        "0:0@0-0 20:0@0-4 21:0@5-9 2:0@9-9 2:0@9-9 30:0@0-3 2:0@3-3");
  CHECK(special_tokens_of(bert.pair) == 3);
  CHECK(special_tokens_of(roberta.pair) == 4);
  CHECK(shown(fill(TokenTemplate().pair, film, good)) == "20:0@0-4 21:0@5-9 30:1@0-3");
}

TEST_CASE("a tokenizer.json's own template gives its ids and types", "[text][input]") {
  const ComposedTokenizer tokenizer = composed("wordpiece_cased");
  const ModelInput input =
      fill(tokenizer.around().pair, tokenizer.encode("a"), tokenizer.encode("is it"));
  // The original library's encode("a", "is it").
  const std::int32_t a = *tokenizer.find("a"), is = *tokenizer.find("is"),
                     it = *tokenizer.find("it");
  CHECK(test::ids_of(input.tokens) == std::vector<std::int32_t>{2, a, 3, is, it, 3});
  CHECK(input.types == std::vector<std::int32_t>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("the longer text of a pair is truncated first", "[text][input]") {
  using Lengths = PairLengths;
  CHECK(cut_longest_first({4, 6}, 10) == Lengths{4, 6});  // fits
  CHECK(cut_longest_first({9, 2}, 7) == Lengths{5, 2});   // only one is truncated
  CHECK(cut_longest_first({2, 9}, 7) == Lengths{2, 5});
  CHECK(cut_longest_first({6, 4}, 7) == Lengths{4, 3});  // the longer one keeps one token more
  CHECK(cut_longest_first({4, 6}, 7) == Lengths{3, 4});
  CHECK(cut_longest_first({5, 5}, 7) == Lengths{3, 4});  // the original library's choice
  CHECK(cut_longest_first({5, 5}, 1) == Lengths{0, 1});
  CHECK(cut_longest_first({5, 5}, 0) == Lengths{0, 0});
  CHECK(cut_longest_first({0, 5}, 3) == Lengths{0, 3});
}

TEST_CASE("truncating a pair removes one token at a time from the longer text", "[text][input]") {
  for (std::size_t first = 0; first < 12; ++first) {
    for (std::size_t second = 0; second < 12; ++second) {
      for (std::size_t room = 0; room < 24; ++room) {
        INFO(first << ' ' << second << ' ' << room);
        std::size_t a = first, b = second;
        // If both have the same length, the one that was shorter at first loses a token.
        while (a + b > room) --(a > b || (a == b && first <= second) ? a : b);
        CHECK(cut_longest_first({first, second}, room) == PairLengths{a, b});
      }
    }
  }
}

TEST_CASE("windows overlap and cover the text", "[text][input]") {
  using Windows = std::vector<TokenWindow>;
  CHECK(overlapping_windows(4, 4, 2) == Windows{{0, 4}});
  CHECK(overlapping_windows(5, 4, 2) == Windows{{0, 4}, {2, 5}});
  CHECK(overlapping_windows(10, 4, 1) == Windows{{0, 4}, {3, 7}, {6, 10}});
  CHECK(overlapping_windows(6, 4, 3) == Windows{{0, 4}, {1, 5}, {2, 6}});
  CHECK(overlapping_windows(3, 1, 0) == Windows{{0, 1}, {1, 2}, {2, 3}});
  CHECK(overlapping_windows(0, 4, 2) == Windows{{0, 0}});
}

}  // namespace glassformer
