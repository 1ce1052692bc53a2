// Pictures compared with texts, against the library transformers; see tests/fixtures/pictures.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>

#include "glassformer/zero_shot_image_classifier.hpp"
#include "image/decode/decode.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/picture_files.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/load.hpp"
#include "tasks/match/match.hpp"
#include "tasks/result_writer.hpp"

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

  ClassifierExplainer explainer() {
    MatchLabels texts(*pipeline, labels, MatchOptions().hypothesis_template);
    while (texts.step()) {
    }
    ClassifierExplainer explainer(*pipeline, labels);
    explainer.set_labels(pipeline->dual(), texts.vectors());
    return explainer;
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

TEST_CASE("CLIP's part for texts alone gives the library's vectors", "[match]") {
  const auto folder = pictures_folder / "clip" / GENERATE("clip_text", "clip_text_bare");
  const auto pipeline = load_pipeline<EmbedPipeline>(folder);
  const auto tensors = read_tensors(folder / "expected.safetensors");
  const nlohmann::json texts = read_json(folder / "expected.json").at("texts");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i].at("text");
    if (text.empty()) continue;  // refused here, as in every task
    INFO(text);
    const Embedded result = pipeline->embed(text);
    std::vector<std::int32_t> ids;
    for (const InputToken& token : result.tokens) ids.push_back(token.id);
    CHECK(ids == texts[i].at("ids").get<std::vector<std::int32_t>>());
    CHECK(distance(result.embedding, tensors.at("text." + std::to_string(i))) < match_tolerance);
  }
  CHECK(parse_config(to_json(pipeline->config())) == pipeline->config());
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

TEST_CASE("explanations of a label of CLIP are those of the library's modules", "[match]") {
  MatchGolden golden(GENERATE("clip", "clip_wide"));
  const auto expected = [&](const char* name) -> const std::vector<float>& {
    return golden.tensors.at(std::string("explain.") + name);
  };
  const ClassifierExplainer explainer = golden.explainer();
  const ExplainInput input = explainer.read(golden.picture(0));
  const std::size_t rows = input.text.tokens(), labels = golden.labels.size();
  const std::size_t label = explainer.answer(input);
  CHECK(golden.labels[label] == golden.json.at("pictures")[0].at("label").get<std::string>());

  // The verdict of each row after each layer; that of the class token is the picture's.
  const Lens lens = explainer.lens(input);
  CHECK(distance(lens.token_logits, expected("lens")) < match_tolerance);
  const std::span<const float> last = std::span(lens.logits).last(labels);
  CHECK(distance(last, golden.tensors.at("logits.0")) < match_tolerance);
  const std::size_t first_row = lens.layers * rows * labels;
  CHECK(distance(std::span(lens.token_logits).subspan(first_row, labels), last) == 0);

  const LogitAttribution attribution = explainer.direct_logit_attribution(input, {});
  const std::size_t columns = attribution.columns.size();
  CHECK(std::abs(attribution.value - static_cast<double>(expected("value")[0])) < match_tolerance);
  for (const std::vector<float>* view : {&attribution.written, &attribution.read}) {
    CHECK(std::abs(attribution.sum(*view) - attribution.value) <
          1e-5 * std::max(1.0, attribution.value));
  }
  std::vector<float> read;  // without the last column, the biases
  for (std::size_t i = 0; i < attribution.read.size(); ++i) {
    if (i % columns != columns - 1) read.push_back(attribution.read[i]);
  }
  CHECK(distance(read, expected("ledger")) < match_tolerance);

  const Relevance relevance = explainer.relevance(input, label);
  CHECK(distance(relevance.matrix, expected("relevance")) < match_tolerance);
  CHECK(distance(relevance.scores, std::span(expected("relevance")).first(rows)) < match_tolerance);

  const Rollout rollout = explainer.rollout(input);
  CHECK(std::abs(std::accumulate(rollout.scores.begin(), rollout.scores.end(), 0.0) - 1) < 1e-5);
}

TEST_CASE("what explanations of a label of CLIP say is what changed runs give", "[match]") {
  MatchGolden golden(GENERATE("clip", "clip_wide"));
  const ClassifierExplainer explainer = golden.explainer();
  const Picture picture = golden.picture(0);
  const ExplainInput input = explainer.read(picture);
  const std::size_t label = explainer.answer(input);
  const Contrast contrast = contrast_for(label, golden.labels.size());
  const auto number_with = [&](EncoderOptions options) {
    const ImageMatch match =
        golden.classify(picture, {.encoder = std::move(options), .labels = golden.labels});
    return contrast.of(match.logits.data());
  };
  const double full = number_with({});

  const LogitAttribution attribution =
      explainer.direct_logit_attribution(input, {.label = {}, .effects = true});
  const auto head = std::ranges::find(
      attribution.columns, LogitColumn{.kind = LogitColumn::Kind::head, .layer = 1, .head = 2});
  REQUIRE(head != attribution.columns.end());
  const double ablated = number_with({.ablate = {{.layer = 1, .head = 2}}});
  CHECK(std::abs(
            static_cast<double>(
                attribution.effects[static_cast<std::size_t>(head - attribution.columns.begin())]) -
            (full - ablated)) < match_tolerance);

  FaithfulnessTest test = explainer.faithfulness(input, {.orders = 2});
  while (test.step()) {
  }
  const double masked = number_with({.mask_tokens = {1}});
  CHECK(std::abs(static_cast<double>(test.take().losses[0]) - (full - masked)) < match_tolerance);

  // The gradient of `classify` is computed by a formula, that of explanations by the tape.
  const ImageMatch match = golden.classify(
      picture,
      {.encoder = {.trace = {"encoder.embed_patches"}, .gradients = {"encoder.embed_patches"}},
       .labels = golden.labels});
  std::vector<float> products;
  append_row_products(match.trace[0], match.gradients[0], products);
  CHECK(distance(explainer.gradient_times_input(input, label).scores, products) < match_tolerance);
}

TEST_CASE("requests to explain a label of CLIP are checked", "[match]") {
  MatchGolden golden("clip");
  const Picture picture = golden.picture(0);
  const TaskInputs inputs = std::span(&picture, 1);
  const auto explained = [&](const std::string& options) {
    const auto job = begin_explanation_job(*golden.pipeline, inputs, TaskOptions(options));
    while (job->step()) {
    }
    REQUIRE(job->finish() == 1);
    TensorsBeside writer;
    job->write(0, writer);
    return nlohmann::json::parse(writer.take());
  };
  const nlohmann::json lens = explained(R"({"method": "lens", "labels": ["a cat", "a dog"]})");
  CHECK(lens.at("grid").at("rows") == 4);
  CHECK(lens.at("layers").back().at("scores").size() == 2);
  const nlohmann::json other = explained(
      R"({"method": "direct_logit_attribution", "labels": ["a", "b", "c"], "label": "b", "hypothesisTemplate": "{}"})");
  CHECK(other.at("label") == "b");
  for (const char* wrong :
       {R"({"method": "lens"})", R"({"method": "lens", "labels": []})",
        R"({"method": "lens", "labels": ["a", "a"]})",
        R"({"method": "activation_patching", "labels": ["a"]})",
        R"({"method": "direct_logit_attribution", "labels": ["a"], "label": "b"})",
        R"({"method": "lens", "labels": ["a"], "hypothesisTemplate": "a photo"})"}) {
    INFO(wrong);
    const Error error =
        error_of([&] { begin_explanation_job(*golden.pipeline, inputs, TaskOptions(wrong)); });
    CHECK(error.code() == ErrorCode::invalid_option);
  }
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
