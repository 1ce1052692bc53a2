// Gradients as an option of tasks, compared with PyTorch's and with finite differences.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "glassformer/classifier.hpp"
#include "glassformer/embedder.hpp"
#include "glassformer/question_answerer.hpp"
#include "glassformer/token_classifier.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"

namespace glassformer::test {
namespace {

using Tensors = std::map<std::string, GoldenTensor>;

const std::filesystem::path golden_folder = GLASSFORMER_SOURCE_DIR "/tests/golden/pre_norm_mean";

Tensors gradients_of_checkpoint(const std::string& name) {
  return read_safetensors(checkpoints / name / "expected.gradients.safetensors");
}

// Compares one of the gradients with its golden.
void check(const std::vector<TracedTensor>& gradients, const std::string& name,
           const Tensors& expected) {
  INFO(name);
  const auto found = std::ranges::find(gradients, name, &TracedTensor::name);
  REQUIRE(found != gradients.end());
  const GoldenTensor& golden = expected.at("trace/" + name);
  CHECK(found->shape == golden.shape);
  REQUIRE(found->data.size() == golden.values.size());
  for (std::size_t i = 0; i < golden.values.size(); ++i) {
    CHECK(std::abs(found->data[i] - golden.values[i]) < 1e-4f);
  }
}

double log_odds(const Classification& result) {
  return double{result.logits[1]} - double{result.logits[0]};
}

}  // namespace

TEST_CASE("a classifier returns gradients by the names of tensors", "[gradients]") {
  auto classifier = Classifier::load(golden_folder);
  const Tensors expected = read_safetensors(golden_folder / "gradients.safetensors");
  const ClassifyOptions options = {
      .encoder = {.gradients = {"encoder.embed_tokens", "encoder.layers.*.self_attn.weights"}}};
  const Classification result = classifier.classify("not good at all", options);
  REQUIRE(result.gradients.size() == 3);
  CHECK(result.trace.empty());
  check(result.gradients, "encoder.embed_tokens", expected);
  check(result.gradients, "encoder.layers.0.self_attn.weights", expected);
  check(result.gradients, "encoder.layers.1.self_attn.weights", expected);
  CHECK(classifier.classify("not good at all").logits == result.logits);
}

TEST_CASE("gradients of a text with replaced and masked tensors are those of what was computed",
          "[gradients]") {
  auto classifier = Classifier::load(golden_folder);
  const std::string name = "encoder.embed_tokens";
  ClassifyOptions options = {.encoder = {.trace = {name}, .gradients = {name}, .mask_tokens = {1}}};
  options.encoder.patch = {{.name = "encoder.layers.0.self_attn.context",
                            .heads = std::vector<std::size_t>{1},
                            .shape = {10 * 4},
                            .value = std::vector<float>(10 * 4, 0.25f)}};
  const Classification base = classifier.classify("not good at all", options);
  REQUIRE(base.trace.size() == 1);
  const TracedTensor& rows = base.trace[0];
  const TracedTensor& gradient = base.gradients.at(0);
  REQUIRE(rows.data.size() == gradient.data.size());
  // Moves the embeddings along a direction. The answer is the predicted label's log-odds.
  const double sign = base.logits[1] > base.logits[0] ? 1 : -1;
  double along = 0;
  std::vector<float> direction(rows.data.size());
  for (std::size_t i = 0; i < direction.size(); ++i) {
    direction[i] = std::sin(static_cast<float>(i));
    along += double{direction[i]} * double{gradient.data[i]};
  }
  constexpr float step = 1e-2f;
  const auto moved = [&](float by) {
    std::vector<float> values = rows.data;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += by * direction[i];
    ClassifyOptions changed = options;
    changed.encoder.trace.clear();
    changed.encoder.gradients.clear();
    changed.encoder.patch.push_back({.name = name, .shape = {values.size()}, .value = values});
    return sign * log_odds(classifier.classify("not good at all", changed));
  };
  const double difference = (moved(step) - moved(-step)) / (2 * double{step});
  CHECK(std::abs(along - difference) < 1e-2 * std::max(1.0, std::abs(difference)));
}

TEST_CASE("gradients of checkpoints explain a label, a token's label, an answer", "[gradients]") {
  SECTION("one of three labels of a pair of texts") {
    auto classifier = Classifier::load(checkpoints / "bert_sequence");
    const auto result = classifier.classify(
        {"Great cast.", "Not good!"}, {.encoder = {.gradients = {"pooled", "*.embed_tokens"}}});
    const Tensors expected = gradients_of_checkpoint("bert_sequence");
    check(result.gradients, "pooled", expected);
    check(result.gradients, "encoder.embed_tokens", expected);
  }
  SECTION("the label of a token") {
    auto tagger = TokenClassifier::load(checkpoints / "bert_tokens");
    const CheckpointGolden golden("bert_tokens");
    const auto json = nlohmann::json::parse(
        read_file(checkpoints / "bert_tokens/expected.gradients.json", any_file));
    const std::string text =
        golden.json.at("texts").at(json.at("text").get<std::size_t>()).at("text");
    TokenClassifyOptions options = {.encoder = {.gradients = {"encoder.embed_tokens"}}};
    const Tensors expected = gradients_of_checkpoint("bert_tokens");
    check(tagger.classify(text, options).gradients, "encoder.embed_tokens", expected);
    options.encoder.gradient_token = 1;
    check(tagger.classify(text, options).gradients, "encoder.embed_tokens", expected);
    options.encoder.gradient_token = 2;
    const auto other = tagger.classify(text, options).gradients;
    CHECK(other.at(0).data != expected.at("trace/encoder.embed_tokens").values);
    options.encoder.gradient_token = 100;
    CHECK(error_of([&] { tagger.classify(text, options); }).code() == ErrorCode::invalid_option);
  }
  SECTION("an answer") {
    auto answerer = QuestionAnswerer::load(checkpoints / "bert_answer");
    const CheckpointGolden golden("bert_answer");
    const auto json = nlohmann::json::parse(
        read_file(checkpoints / "bert_answer/expected.gradients.json", any_file));
    const auto& text = golden.json.at("texts").at(json.at("text").get<std::size_t>());
    const std::string question = text.at("question"), context = text.at("context");
    const Answer answer =
        answerer.answer(question, context, {.encoder = {.gradients = {"encoder.embed_tokens"}}});
    REQUIRE(answer.gradients.size() == 1);
    check(answer.gradients, "encoder.embed_tokens", gradients_of_checkpoint("bert_answer"));
  }
}

TEST_CASE("gradients are refused where there is no number to explain", "[gradients]") {
  const auto refusal = [](const auto& action) { return error_of(action).code(); };
  auto classifier = Classifier::load(golden_folder);
  ClassifyOptions options = {.encoder = {.gradients = {"encoder.layers.9.output"}}};
  const Error unknown = error_of([&] { classifier.classify("a film", options); });
  CHECK(unknown.code() == ErrorCode::invalid_option);
  CHECK(std::string(unknown.what()).starts_with("gradients: expected tensors of this model"));
  CHECK(refusal([&] { classifier.classify("a film", {.encoder = {.gradient_token = 0}}); }) ==
        ErrorCode::invalid_option);
  auto integers = Classifier::load(golden_folder, {.compute = Compute::int8});
  options.encoder.gradients = {"logits"};
  CHECK(refusal([&] { integers.classify("a film", options); }) == ErrorCode::unsupported);
  options.encoder.patch = {{.name = "encoder.layers.0.self_attn.weights", .value = {0}}};
  CHECK(refusal([&] { classifier.classify("a film", options); }) == ErrorCode::unsupported);
  auto embedder = Embedder::load(checkpoints / "bert_embed");
  CHECK(refusal([&] { embedder.embed("a film", {.encoder = {.gradients = {"pooled"}}}); }) ==
        ErrorCode::unsupported);
}

}  // namespace glassformer::test
