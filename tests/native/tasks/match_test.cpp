// Pictures compared with texts, against the library transformers; see tests/pictures.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "glassformer/zero_shot_image_classifier.hpp"
#include "image/decode/decode.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/picture_files.hpp"
#include "tasks/load.hpp"
#include "tasks/match/match.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr double match_tolerance = 1e-4;

// A checkpoint and the library's answers.
struct MatchGolden {
  explicit MatchGolden(const std::string& name)
      : folder(pictures_folder / "clip" / name),
        json(read_json(folder / "expected.json")),
        labels(json.at("labels").get<std::vector<std::string>>()),
        tensors(read_tensors(folder / "expected.safetensors")),
        pipeline(load_pipeline<MatchPipeline>(folder)) {}

  Picture picture(std::size_t index) const {
    return decode_picture(picture_file(json.at("pictures")[index].at("file")));
  }
  ImageMatch classify(const Picture& picture, const MatchOptions& options) {
    return only(run_all(*pipeline->begin(std::span(&picture, 1), options)));
  }

  std::filesystem::path folder;
  nlohmann::json json;
  std::vector<std::string> labels;
  std::map<std::string, std::vector<float>> tensors;
  std::unique_ptr<MatchPipeline> pipeline;
};

}  // namespace

TEST_CASE("CLIP gives the library's scores and vectors of pictures", "[match]") {
  MatchGolden golden(GENERATE("clip", "clip_wide"));
  for (std::size_t i = 0; i < golden.json.at("pictures").size(); ++i) {
    const nlohmann::json& entry = golden.json.at("pictures")[i];
    INFO(entry.dump());
    const std::string index = "." + std::to_string(i);
    const Picture picture = golden.picture(i);
    const ReadPicture read = read_picture(picture, golden.pipeline->config(), false, {});
    const bool equal = read.input.pixels.values == golden.tensors.at("pixels" + index);
    CHECK(equal);  // to the bit
    const ImageMatch result =
        golden.classify(picture, {.encoder = {.attention = true}, .labels = golden.labels});
    CHECK(result.label == entry.at("label").get<std::string>());
    CHECK(distance(result.scores, entry.at("scores").get<std::vector<float>>()) < match_tolerance);
    CHECK(distance(result.logits, golden.tensors.at("logits" + index)) < match_tolerance);
    CHECK(distance(result.embedding, golden.tensors.at("picture" + index)) < match_tolerance);
    CHECK(distance(result.attention->data, golden.tensors.at("attention" + index)) <
          match_tolerance);
    CHECK(result.grid.tokens() == result.attention->queries);
    const ImageMatch alone = golden.classify(picture, {});
    CHECK(alone.embedding == result.embedding);
    CHECK(alone.scores.empty());
  }
}

TEST_CASE("CLIP gives the library's tokens and vectors of texts", "[match]") {
  MatchGolden golden(GENERATE("clip", "clip_wide"));
  for (std::size_t i = 0; i < golden.json.at("texts").size(); ++i) {
    const nlohmann::json& entry = golden.json.at("texts")[i];
    INFO(entry.dump());
    const std::string text = entry.at("text");
    if (text.empty()) {  // refused here, as in every task
      CHECK_THROWS_AS(golden.pipeline->texts().embed(text), Error);
      continue;
    }
    const Embedded result = golden.pipeline->texts().embed(text, {.encoder = {.attention = true}});
    std::vector<std::int32_t> ids;
    for (const InputToken& token : result.tokens) ids.push_back(token.id);
    CHECK(ids == entry.at("ids").get<std::vector<std::int32_t>>());
    const std::string index = std::to_string(i);
    CHECK(distance(result.embedding, golden.tensors.at("text." + index)) < match_tolerance);
    const auto maps = golden.tensors.find("text.attention." + index);
    if (maps != golden.tensors.end()) {
      CHECK(distance(result.attention->data, maps->second) < match_tolerance);
    }
    const Tokenizer& tokenizer = *golden.pipeline->vocabulary();
    std::vector<std::int32_t> own;
    for (const std::int32_t id : ids) {
      if (!tokenizer.is_control(id)) own.push_back(id);
    }
    CHECK(tokenizer.decode(own) == entry.at("decoded").get<std::string>());
  }
}

TEST_CASE("gradients of a label of CLIP are the library's", "[match]") {
  MatchGolden golden(GENERATE("clip", "clip_wide"));
  const ImageMatch result =
      golden.classify(golden.picture(0),
                      {.encoder = {.gradients = {"encoder.embeddings"}}, .labels = golden.labels});
  REQUIRE(result.gradients.size() == 1);
  CHECK(distance(result.gradients[0].data, golden.tensors.at("gradient.0/encoder.embeddings")) <
        match_tolerance);
}

TEST_CASE("a dual encoder's configuration is written and read", "[match]") {
  const MatchGolden golden(GENERATE("clip", "clip_wide"));
  const ModelConfig& config = golden.pipeline->config();
  ModelConfig again = parse_config(to_json(config));
  again.pictures = config.pictures;
  CHECK(again == config);
}

TEST_CASE("bad options of a dual encoder are refused", "[match]") {
  MatchGolden golden("clip");
  const auto refusal = [&](const MatchOptions& options) -> std::string {
    try {
      golden.classify(golden.picture(0), options);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_option);
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal({.labels = {"a", "b", "a"}}), ContainsSubstring("labels: expected different"));
  CHECK_THAT(refusal({.labels = {"a"}, .hypothesis_template = "a photo"}),
             ContainsSubstring("hypothesisTemplate: expected a text with \"{}\""));
  CHECK_THAT(refusal({.encoder = {.mask_tokens = {0}}}), ContainsSubstring("maskTokens"));
  CHECK_THAT(refusal({.encoder = {.gradients = {"encoder.embeddings"}}}),
             ContainsSubstring("gradients: expected labels"));
  ZeroShotImageClassifier classifier = ZeroShotImageClassifier::load(golden.folder);
  CHECK_THROWS_AS(classifier.classify(golden.picture(0), {}), Error);
  CHECK(classifier.embed_text("a cat").embedding.size() ==
        classifier.embed_image(golden.picture(0)).embedding.size());
}

}  // namespace glassformer::test
