// Gradients as an option of tasks, compared with PyTorch's and with finite differences.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <map>

#include "glassformer/classifier.hpp"
#include "glassformer/embedder.hpp"
#include "glassformer/explainer.hpp"
#include "glassformer/generator.hpp"
#include "glassformer/question_answerer.hpp"
#include "glassformer/token_classifier.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {
namespace {

using Tensors = std::map<std::string, GoldenTensor>;

const std::filesystem::path golden_folder =
    GLASSFORMER_SOURCE_DIR "/tests/fixtures/golden/pre_norm_mean";

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
  CHECK(refusal([&] {
          embedder.embed("a film", {.encoder = {.gradients = {"*.embed_tokens"}}});
        }) == ErrorCode::unsupported);
}

// Returns the gradients of a next token of a text, with options in JSON.
std::vector<TracedTensor> next_gradients(const std::filesystem::path& folder,
                                         const std::string& text, const nlohmann::json& options) {
  const auto pipeline = load_pipeline(folder, {});
  const TextInput input(text);
  const auto job =
      begin_explanation_job(*pipeline, TaskInputs(std::span(&input, 1)), options.dump());
  while (job->step()) {
  }
  job->finish();
  TensorsBeside writer;
  job->write(0, writer);
  return writer.take_tensors();
}

// A next token of a model, as its goldens explain it.
struct NextTokenGolden {
  explicit NextTokenGolden(const std::string& model)
      : ours(model.starts_with("translate")),
        folder(ours ? golden_folder.parent_path() / model : checkpoints / model) {}

  nlohmann::json read(const std::string& path) const {
    return nlohmann::json::parse(read_file(folder / path, any_file));
  }
  // The plan of "gradients" or "integrated".
  nlohmann::json plan(const std::string& kind) const { return read(file(kind) + ".json"); }
  std::string file(const std::string& kind) const { return (ours ? "" : "expected.") + kind; }
  nlohmann::json given(const nlohmann::json& plan) const {
    const nlohmann::json texts = read(ours ? "golden.json" : "expected.json").at("texts");
    return texts.at(plan.at("text").get<std::size_t>());
  }
  std::string text(const nlohmann::json& plan) const {
    const nlohmann::json given = this->given(plan);
    return given.is_string() ? given : given.at("text");
  }
  // The options that select the plan's number.
  nlohmann::json options(const nlohmann::json& plan, const std::string& method) const {
    nlohmann::json options = {{"method", method}};
    const nlohmann::json text = given(plan);
    for (const char* language : {"from", "to"}) {
      if (text.contains(language)) options[language] = text.at(language);
    }
    for (const auto& term : plan.at("contrast")) {
      options[term.at(2).get<double>() > 0 ? "token" : "against"] = term.at(1);
    }
    if (plan.contains("target_ids") && !plan.at("target_ids").is_null()) {
      options["prefix"] = plan.at("target_ids");
      options["prefix"].erase(0);  // the start token
    }
    return options;
  }

  bool ours;
  std::filesystem::path folder;
};

TEST_CASE("gradients of a next token match PyTorch's", "[gradients]") {
  const std::string name =
      GENERATE("gpt2_generate", "llama", "gemma2", "gpt_neox", "marian", "m2m_100", "nllb", "mbart",
               "bart", "t5", "flan_t5", "mt5", "translate_odd_local");
  INFO(name);
  const NextTokenGolden golden(name);
  const nlohmann::json plan = golden.plan("gradients");
  nlohmann::json options = golden.options(plan, "gradients");
  options["names"] = {"*.embed_tokens"};
  const Tensors expected =
      read_safetensors(golden.folder / (golden.file("gradients") + ".safetensors"));
  std::vector<TracedTensor> gradients = next_gradients(golden.folder, golden.text(plan), options);
  REQUIRE(gradients.size() == (plan.contains("target_ids") ? 2 : 1));
  for (TracedTensor& gradient : gradients) {
    gradient.name.erase(0, std::string("gradients.").size());
  }
  for (const TracedTensor& gradient : gradients) check(gradients, gradient.name, expected);
}

TEST_CASE("integrated gradients of a next token match PyTorch's", "[gradients][explain]") {
  const std::string name = GENERATE("gpt2_generate", "llama", "mistral", "phi3", "gemma2", "gemma3",
                                    "gpt_neox", "marian", "m2m_100", "t5", "flan_t5", "mt5",
                                    "translate_pre_norm_shared", "translate_odd_local");
  INFO(name);
  const NextTokenGolden golden(name);
  const nlohmann::json plan = golden.plan("integrated");
  nlohmann::json options = golden.options(plan, "integrated_gradients");
  if (!plan.at("baseline_token").is_null()) options["baselineToken"] = plan.at("baseline_token");
  const auto pipeline = load_pipeline(golden.folder, {});
  const std::string text = golden.text(plan);
  const TextInput input(text);
  const auto job = begin_next_gradients(*pipeline, std::span(&input, 1),
                                        read_explain_request(*pipeline, options.dump()));
  const NextGradients result = only(run_all(*job));
  const auto& found = std::get<IntegratedGradients>(result.part);
  CHECK(found.steps == plan.at("steps"));
  const auto near = [&](float got, const char* key) {
    CHECK(std::abs(double{got} - plan.at(key).get<double>()) < 1e-4);
  };
  near(found.value, "value");
  near(found.baseline, "baseline");
  near(found.gap, "gap");
  const auto scores = plan.at("scores").get<std::vector<float>>();
  REQUIRE(found.scores.size() == scores.size());
  CHECK(result.rows.size() == scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    CHECK(std::abs(found.scores[i] - scores[i]) < 1e-4f);
    CHECK((found.scores[i] == 0.0f) == (scores[i] == 0.0f));  // special tokens
  }
}

TEST_CASE("a token of an answer is explained", "[gradients][explain]") {
  const auto pipeline = load_pipeline(checkpoints / "t5", {});
  const std::string text = NextTokenGolden("t5").read("expected.json").at("texts")[2].at("text");
  const TextInput input(text);
  const auto explain = [&](const std::string& options) {
    return only(run_all(*begin_next_gradients(*pipeline, std::span(&input, 1),
                                              read_explain_request(*pipeline, options))));
  };
  const NextGradients own = explain(R"({"method": "relevance", "position": 2})");
  REQUIRE(own.before.answer);
  const std::vector<std::int32_t>& ids = *own.before.answer;
  CHECK(own.token.id == ids[2]);
  const auto& relevance = std::get<Relevance>(own.part);
  CHECK(relevance.scores.size() == 3 + own.before.tokens.size());
  // The same token after the same beginning.
  const nlohmann::json beginning = {{"method", "relevance"}, {"prefix", {ids[0], ids[1]}}};
  const NextGradients begun = explain(beginning.dump());
  CHECK(begun.token.id == own.token.id);
  CHECK(std::get<Relevance>(begun.part).scores == relevance.scores);
  for (const char* const refused :
       {R"({"method": "relevance", "position": 999})",
        R"({"method": "relevance", "position": 3, "prefix": [5, 6]})",
        R"({"method": "relevance", "prefix": [99999]})",
        R"({"method": "relevance", "sentence": 0})",
        R"({"method": "relevance", "baselineToken": 1})",
        R"({"method": "integrated_gradients", "baselineToken": 99999})"}) {
    INFO(refused);
    CHECK(error_of([&] { explain(refused); }).code() == ErrorCode::invalid_option);
  }
}

TEST_CASE("the explainer of next tokens has the methods that use gradients",
          "[gradients][explain]") {
  const NextTokenGolden golden("gpt2_generate");
  const nlohmann::json plan = golden.plan("gradients");
  const std::string text = golden.text(plan);
  auto explainer = NextTokenExplainer::load(golden.folder);
  const std::string name = "decoder.embed_tokens";
  const auto gradients = explainer.gradients(text, {name});
  const Tensors expected = read_safetensors(golden.folder / "expected.gradients.safetensors");
  check(gradients.part.gradients, name, expected);
  CHECK(gradients.part.token.id == plan.at("contrast")[0][1]);
  CHECK(gradients.part.against.id == plan.at("contrast")[1][1]);
  NextOptions options;
  options.trace = {name};
  const Prediction run = Generator::load(golden.folder).next(text, options);
  const auto scores = explainer.gradient_times_input(text).part.scores;
  const std::size_t tokens = run.prompt_tokens.size();
  REQUIRE(scores.size() == tokens);
  const std::vector<float>& e = run.trace.at(0).data;
  const std::vector<float>& g = expected.at("trace/" + name).values;
  const std::size_t width = e.size() / tokens;
  for (std::size_t i = 0; i < tokens; ++i) {
    double sum = 0;
    for (std::size_t c = i * width; c < (i + 1) * width; ++c) sum += double{e[c]} * double{g[c]};
    CHECK(std::abs(sum - double{scores[i]}) < 1e-4);
  }
  const NextPairOptions opposite = {.token = gradients.part.against.id,
                                    .against = gradients.part.token.id};
  const auto other = explainer.integrated_gradients(text, opposite).part.gradients;
  const nlohmann::json integrated = golden.plan("integrated");
  CHECK(std::abs(double{other.value} + integrated.at("value").get<double>()) < 1e-4);
  const auto relevance = explainer.relevance(text).part.relevance;
  CHECK(relevance.scores.size() == tokens);
  CHECK(std::equal(relevance.scores.begin(), relevance.scores.end(),
                   relevance.matrix.end() - static_cast<std::ptrdiff_t>(tokens)));
  const auto refusal = [](const auto& call) { return error_of(call).code(); };
  CHECK(refusal([&] { explainer.gradients(text, {"no.such"}); }) == ErrorCode::invalid_option);
  CHECK(refusal([&] { explainer.relevance(text, {.token = 500}); }) == ErrorCode::invalid_option);
  auto integers = NextTokenExplainer::load(golden.folder, {.compute = Compute::int8});
  CHECK(refusal([&] { integers.relevance(text); }) == ErrorCode::unsupported);
}

TEST_CASE("gradient methods of a classifier follow their formulas", "[gradients][explain]") {
  auto explainer = Explainer::load(golden_folder);
  const Tensors expected = read_safetensors(golden_folder / "gradients.safetensors");
  const std::string text = "not good at all";  // of gradients.json
  auto classifier = Classifier::load(golden_folder);
  const Classification run = classifier.classify(
      text,
      {.encoder = {.attention = true, .trace = {"encoder.embed_tokens", "encoder.layers.*.*"}}});
  const std::size_t tokens = run.tokens.size();

  SECTION("gradient x input") {
    const auto result = explainer.gradient_times_input(text);
    const std::vector<float>& e = run.trace.at(0).data;
    const std::vector<float>& g = expected.at("trace/encoder.embed_tokens").values;
    const std::size_t width = e.size() / tokens;
    REQUIRE(result.part.scores.size() == tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
      double sum = 0;
      for (std::size_t c = i * width; c < (i + 1) * width; ++c) sum += double{e[c]} * double{g[c]};
      CHECK(std::abs(sum - double{result.part.scores[i]}) < 1e-4);
    }
  }
  SECTION("integrated gradients add up to the difference from the baseline") {
    const auto result = explainer.integrated_gradients(text);
    double sum = 0;
    for (const float score : result.part.scores) sum += double{score};
    const double difference = double{result.part.value} - double{result.part.baseline};
    CHECK(std::abs(difference - sum - double{result.part.gap}) < 1e-5);
    CHECK(std::abs(result.part.gap) <= 0.02 * std::abs(difference) + 1e-4);
    CHECK(result.part.steps >= 64);
    // The baseline: zeros for the embeddings of all tokens, as there are no special ones.
    const Classification empty = classifier.classify(
        text, {.encoder = {.patch = {{.name = "encoder.embed_tokens", .value = {0}}}}});
    const double sign = run.logits[1] > run.logits[0] ? 1 : -1;
    CHECK(std::abs(sign * log_odds(empty) - double{result.part.baseline}) < 1e-4);
    CHECK(std::abs(sign * log_odds(run) - double{result.part.value}) < 1e-4);
    // Another label of two has the opposite scores.
    const std::string other = result.label == "positive" ? "negative" : "positive";
    const auto opposite = explainer.integrated_gradients(text, other);
    CHECK(std::abs(opposite.part.scores[1] + result.part.scores[1]) < 1e-4f);
  }
  SECTION("relevance") {
    const auto result = explainer.relevance(text);
    std::vector<double> r(tokens * tokens, 0.0);
    for (std::size_t i = 0; i < tokens; ++i) r[i * tokens + i] = 1;
    const AttentionMap& map = *run.attention;
    for (std::size_t layer = 0; layer < map.layers; ++layer) {
      const std::vector<float>& g =
          expected.at("trace/encoder.layers." + std::to_string(layer) + ".self_attn.weights")
              .values;
      const std::vector<double> before = r;
      for (std::size_t i = 0; i < tokens; ++i) {
        for (std::size_t j = 0; j < tokens; ++j) {
          double mean = 0;
          for (std::size_t head = 0; head < map.heads; ++head) {
            const std::size_t at = (head * tokens + i) * tokens + j;
            mean += std::max(0.0, double{map.at(layer, 0)[at]} * double{g[at]}) /
                    static_cast<double>(map.heads);
          }
          for (std::size_t c = 0; c < tokens; ++c) {
            r[i * tokens + c] += mean * before[j * tokens + c];
          }
        }
      }
    }
    for (std::size_t i = 0; i < tokens; ++i) {
      double mean = 0;
      for (std::size_t row = 0; row < tokens; ++row) {
        mean += (r[row * tokens + i] - (row == i ? 1 : 0)) / static_cast<double>(tokens);
      }
      CHECK(std::abs(mean - double{result.part.scores[i]}) < 1e-5);
    }
  }
  SECTION("faithfulness judges them, and integers are refused") {
    for (const char* method : {"gradient_times_input", "integrated_gradients", "relevance"}) {
      const auto test = explainer.faithfulness(text, {.of = method, .orders = 2});
      CHECK(std::isfinite(test.part.scores.score));
    }
    auto integers = Explainer::load(golden_folder, {.compute = Compute::int8});
    CHECK(error_of([&] { integers.relevance(text); }).code() == ErrorCode::unsupported);
    auto linear = Explainer::load(golden_folder.parent_path() / "linear_attention");
    CHECK(error_of([&] { linear.relevance(text); }).code() == ErrorCode::unsupported);
  }
}

}  // namespace glassformer::test
