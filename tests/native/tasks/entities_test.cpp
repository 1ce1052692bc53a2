// Entities from label probabilities. The expected values are those of TokenClassificationPipeline
// (Transformers 5.12.1) for the same tokens and probabilities, with offsets in UTF-16 units.

#include "tasks/tag/entities.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <numeric>

#include "base/json/json.hpp"
#include "support/error_of.hpp"
#include "tasks/tag/token_classify.hpp"
#include "text/composed/token_decoder.hpp"

namespace glassformer {
namespace {

struct Row {
  LabeledToken token;
  std::vector<float> shares;  // in 64ths
};

struct Scene {
  std::string text;
  std::vector<std::string> labels;
  std::vector<Row> rows;
  bool marks_subwords;
  std::string decoder;  // as in tokenizer.json
};

// Returns an entity as one line; its score is in 64ths.
std::string shown(const Entity& entity) {
  const float share = entity.score * 64;
  const float rounded = std::round(share * 100) / 100;
  std::string score = std::to_string(rounded);
  score.erase(score.find_last_not_of('0') + 1);
  if (score.ends_with('.')) score.pop_back();
  return entity.entity + ' ' + score + " <" + entity.word + "> " + std::to_string(entity.start) +
         '-' + std::to_string(entity.end) +
         (entity.index ? " #" + std::to_string(*entity.index) : "");
}

std::vector<std::string> entities(const Scene& scene, EntityOptions options) {
  std::vector<LabeledToken> tokens;
  std::vector<float> probabilities;
  for (const Row& row : scene.rows) {
    REQUIRE(std::accumulate(row.shares.begin(), row.shares.end(), 0.0f) == 64);
    tokens.push_back(row.token);
    for (const float share : row.shares) probabilities.push_back(share / 64);
  }
  const JsonValue json = parse_json(scene.decoder, tokenizer_json);
  const auto decoder = read_decoder(json, "decoder");
  const PieceRules rules{.marks_subwords = scene.marks_subwords,
                         .decode = [&](const std::vector<std::string>& pieces) {
                           std::string text;
                           for (const std::string& part : decoder->decode(pieces)) text += part;
                           return text;
                         }};
  options.labels = scene.labels;
  std::vector<std::string> lines;
  for (const Entity& entity :
       find_entities(Utf16Cursor(scene.text), tokens,
                     const_view(probabilities.data(), {tokens.size(), scene.labels.size()}), rules,
                     options)) {
    lines.push_back(shown(entity));
  }
  return lines;
}

std::vector<std::string> entities(const Scene& scene, Aggregation aggregation) {
  return entities(scene, {.labels = {}, .aggregation = aggregation});
}

using Lines = std::vector<std::string>;

// WordPiece. The labels within Zoé, Müller and IBM differ; two tokens are unknown.
const Scene wordpiece{
    .text = "😀 Zoé Müller left New York, ☃IBM said.",
    .labels = {"O", "B-PER", "I-PER", "B-LOC", "I-LOC", "ORG"},
    .rows = {{{.piece = "[CLS]", .start = 0, .end = 0, .special = true}, {0, 64, 0, 0, 0, 0}},
             {{.piece = "[UNK]", .start = 0, .end = 2, .unknown = true}, {24, 0, 0, 0, 0, 40}},
             {{"Zo", 3, 5}, {0, 40, 8, 16, 0, 0}},
             {{"##é", 5, 6}, {0, 8, 20, 36, 0, 0}},
             {{"M", 7, 8}, {8, 0, 30, 0, 26, 0}},
             {{"##ül", 8, 10}, {2, 0, 10, 0, 52, 0}},
             {{"##ler", 10, 13}, {4, 0, 50, 0, 10, 0}},
             {{"left", 14, 18}, {64, 0, 0, 0, 0, 0}},
             {{"New", 19, 22}, {0, 0, 0, 48, 16, 0}},
             {{"York", 23, 27}, {4, 0, 0, 12, 48, 0}},
             {{",", 27, 28}, {60, 0, 0, 0, 4, 0}},
             {{.piece = "[UNK]", .start = 29, .end = 30, .unknown = true}, {30, 0, 0, 0, 0, 34}},
             {{"IB", 30, 32}, {20, 0, 0, 0, 0, 44}},
             {{"##M", 32, 33}, {36, 0, 0, 0, 0, 28}},
             {{"said", 34, 38}, {52, 0, 0, 0, 0, 12}},
             {{".", 38, 39}, {56, 0, 0, 8, 0, 0}},
             {{.piece = "[SEP]", .start = 39, .end = 39, .special = true}, {0, 64, 0, 0, 0, 0}}},
    .marks_subwords = true,
    .decoder = R"({"type": "WordPiece", "prefix": "##", "cleanup": true})"};

// Byte-level tokens, words split only at spaces, labels with dashes. One token is a space, one a
// tab.
const Scene bytes{
    .text = "Élan Vital isn't  New\tYork",
    .labels = {"O", "B-geo-pol", "I-geo-pol", "my-tag"},
    .rows = {{{.piece = "<s>", .start = 0, .end = 0, .special = true}, {64, 0, 0, 0}},
             {{"Ãīl", 0, 2}, {0, 40, 24, 0}},
             {{"an", 2, 4}, {0, 4, 60, 0}},
             {{"ĠV", 5, 6}, {0, 20, 44, 0}},
             {{"ital", 6, 10}, {30, 0, 34, 0}},
             {{"Ġisn", 11, 14}, {4, 0, 0, 60}},
             {{"'t", 14, 16}, {60, 0, 0, 4}},
             {{"Ġ", 16, 17}, {24, 0, 0, 40}},
             {{"ĠNew", 18, 21}, {2, 62, 0, 0}},
             {{"ĉ", 21, 22}, {30, 34, 0, 0}},
             {{"York", 22, 26}, {0, 6, 58, 0}},
             {{.piece = "</s>", .start = 26, .end = 26, .special = true}, {64, 0, 0, 0}}},
    .marks_subwords = false,
    .decoder = R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                   "use_regex": true})"};

const Scene metaspace{.text = "in New York",
                      .labels = {"O", "B-LOC", "I-LOC"},
                      .rows = {{{"▁in", 0, 2}, {64, 0, 0}},
                               {{"▁New", 3, 6}, {0, 64, 0}},
                               {{"▁Yo", 7, 9}, {0, 0, 64}},
                               {{"rk", 9, 11}, {0, 24, 40}}},
                      .marks_subwords = false,
                      .decoder = R"({"type": "Metaspace", "replacement": "▁",
                                     "prepend_scheme": "always", "split": true})"};

}  // namespace

TEST_CASE("each token is an entity without aggregation", "[pipelines][entities]") {
  CHECK(entities(wordpiece, Aggregation::none) ==
        Lines{"ORG 40 <😀> 0-2 #1", "B-PER 40 <Zo> 3-5 #2", "B-LOC 36 <##é> 5-6 #3",
              "I-PER 30 <M> 7-8 #4", "I-LOC 52 <##ül> 8-10 #5", "I-PER 50 <##ler> 10-13 #6",
              "B-LOC 48 <New> 19-22 #8", "I-LOC 48 <York> 23-27 #9", "ORG 34 <☃> 29-30 #11",
              "ORG 44 <IB> 30-32 #12"});
}

TEST_CASE("simple aggregation joins tokens with the same tag", "[pipelines][entities]") {
  CHECK(entities(wordpiece, Aggregation::simple) ==
        Lines{"ORG 40 <😀> 0-2", "PER 40 <Zo> 3-5", "LOC 36 <##é> 5-6", "PER 30 <M> 7-8",
              "LOC 52 <##ül> 8-10", "PER 50 <##ler> 10-13", "LOC 48 <New York> 19-27",
              "ORG 39 <☃ IB> 29-32"});
  CHECK(entities(bytes, Aggregation::simple) ==
        Lines{"geo-pol 44.5 <Élan Vital> 0-10", "tag 60 < isn> 11-14", "tag 40 < > 16-17",
              "geo-pol 62 < New> 18-21", "geo-pol 46 <\tYork> 21-26"});
  CHECK(entities(metaspace, Aggregation::simple) == Lines{"LOC 56 <New York> 3-11"});
}

TEST_CASE("the aggregation `first` labels a word like its first token", "[pipelines][entities]") {
  CHECK(entities(wordpiece, Aggregation::first) ==
        Lines{"ORG 40 <😀> 0-2", "PER 35 <Zoé Müller> 3-13", "LOC 48 <New York> 19-27",
              "ORG 39 <☃ IBM> 29-33"});
}

TEST_CASE("the aggregation `average` labels a word by its mean probabilities",
          "[pipelines][entities]") {
  CHECK(entities(wordpiece, Aggregation::average) ==
        Lines{"ORG 40 <😀> 0-2", "LOC 26 <Zoé> 3-6", "PER 30 <Müller> 7-13",
              "LOC 48 <New York> 19-27", "ORG 35 <☃ IBM> 29-33"});
}

TEST_CASE("the aggregation `max` labels a word like its most certain token",
          "[pipelines][entities]") {
  CHECK(entities(wordpiece, Aggregation::max) ==
        Lines{"ORG 40 <😀> 0-2", "PER 40 <Zoé> 3-6", "LOC 52 <Müller> 7-13",
              "LOC 48 <New York> 19-27", "ORG 39 <☃ IBM> 29-33"});
}

TEST_CASE("words are between spaces if pieces have no marks", "[pipelines][entities]") {
  // "New", tab, "York" is one word. As in the original, a word's text is decoded twice, which
  // breaks non-ASCII characters at the start of a text and joins words of ▁ pieces.
  CHECK(entities(bytes, Aggregation::first) == Lines{"geo-pol 42 <\uFFFDlan Vital> 0-10",
                                                     "tag 50 < isn't > 11-17",
                                                     "geo-pol 62 < New\tYork> 18-26"});
  CHECK(entities(bytes, Aggregation::average) == Lines{"geo-pol 40.5 <\uFFFDlan Vital> 0-10",
                                                       "tag 40 < > 16-17",
                                                       "geo-pol 34 < New\tYork> 18-26"});
  CHECK(entities(bytes, Aggregation::max) == Lines{"geo-pol 52 <\uFFFDlan Vital> 0-10",
                                                   "tag 50 < isn't > 11-17",
                                                   "geo-pol 62 < New\tYork> 18-26"});
  CHECK(entities(metaspace, Aggregation::first) == Lines{"LOC 64 <NewYork> 3-11"});
}

TEST_CASE("a piece is compared with its text by code points", "[pipelines][entities]") {
  // É is one code point but two bytes, so its token starts a word. The last letter is an e and an
  // accent, two code points, so its token does not start a word, as in the original.
  const Scene uncased{
      .text = "Né É e\u0301",
      .labels = {"O", "B-LOC", "I-LOC"},
      .rows = {{{"ne", 0, 2}, {0, 64, 0}}, {{"e", 3, 4}, {64, 0, 0}}, {{"e", 5, 7}, {0, 0, 64}}},
      .marks_subwords = true,
      .decoder = wordpiece.decoder};
  CHECK(entities(uncased, Aggregation::simple) == Lines{"LOC 64 <ne> 0-2", "LOC 64 <e> 5-7"});
  CHECK(entities(uncased, Aggregation::first) == Lines{"LOC 64 <ne> 0-2"});
}

TEST_CASE("the caller chooses the labels to ignore", "[pipelines][entities]") {
  const auto ignoring = [](Aggregation aggregation, std::vector<std::string> labels) {
    return entities(metaspace,
                    {.labels = {}, .aggregation = aggregation, .ignore_labels = std::move(labels)});
  };
  CHECK(ignoring(Aggregation::none, {"B-LOC", "O"}) ==
        Lines{"I-LOC 64 <▁Yo> 7-9 #2", "I-LOC 40 <rk> 9-11 #3"});
  // Aggregated entities no longer have B- and I-.
  CHECK(ignoring(Aggregation::simple, {"B-LOC"}) ==
        Lines{"O 64 <in> 0-2", "LOC 56 <New York> 3-11"});
  CHECK(ignoring(Aggregation::simple, {"LOC"}) == Lines{"O 64 <in> 0-2"});
}

TEST_CASE("a text with only special tokens has no entities", "[pipelines][entities]") {
  const Aggregation aggregation =
      GENERATE(Aggregation::none, Aggregation::simple, Aggregation::first, Aggregation::average,
               Aggregation::max);
  Scene empty = wordpiece;
  empty.rows = {wordpiece.rows.front(), wordpiece.rows.back()};
  CHECK(entities(empty, aggregation).empty());
}

TEST_CASE("aggregations have names", "[pipelines][entities]") {
  const auto named = [](const std::string& name) {
    return read_options<TokenClassifyOptions>(R"({"aggregation": ")" + name + R"("})").aggregation;
  };
  CHECK(named("none") == Aggregation::none);
  CHECK(named("simple") == Aggregation::simple);
  CHECK(named("first") == Aggregation::first);
  CHECK(named("average") == Aggregation::average);
  CHECK(named("max") == Aggregation::max);
  const Error error = test::error_of([&] { named("mean"); });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK(std::string(error.what()) ==
        "aggregation: expected one of none, simple, first, average, max, got \"mean\"");
}

}  // namespace glassformer
