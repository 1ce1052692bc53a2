// Explanations that run the model repeatedly: orders of words, cut edges, circuits. Also all
// explanations through the pipelines.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "explain/interventions/circuit.hpp"
#include "explain/interventions/faithfulness.hpp"
#include "glassformer/classifier.hpp"
#include "glassformer/explainer.hpp"
#include "support/error_of.hpp"
#include "support/explain_golden.hpp"
#include "support/explain_jobs.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

const std::filesystem::path golden_folder =
    GLASSFORMER_SOURCE_DIR "/tests/fixtures/golden/pre_norm_mean";

struct Subject : Golden {
  explicit Subject(const std::string& case_name, std::size_t text_index = 2) : Golden(case_name) {
    text.ids = json.at("ids").at(text_index).get<std::vector<std::int32_t>>();
  }

  // Returns the explained value of a run with some patches, or with some tokens masked.
  double number(const std::vector<Patch>& patches, const std::vector<std::size_t>& masked = {}) {
    const Tensor logits = run(text.batch(masked), {.patches = patches}).logits;
    if (contrast.weights.empty()) {
      contrast = contrast_for(largest({logits.data(), logits.size()}), logits.size());
    }
    return contrast.of(logits.data());
  }
  Stream stream() { return stream_of(trace(runner(), text, stream_tensors(2)), 2); }

  ExplainedText text;
  Contrast contrast;
};

FaithfulnessTest::Subject parts_of(const ExplainedText& text) {
  FaithfulnessTest::Subject subject = {.text = text, .ranking = {}};
  for (std::size_t i = 0; i + 1 < text.tokens(); i += 2) {
    subject.ranking.parts.push_back({i, i + 1});
    subject.ranking.scores.push_back(std::sin(static_cast<float>(i)));
  }
  return subject;
}

Faithfulness run(FaithfulnessTest test, std::size_t tokens = 512) {
  while (test.step(tokens)) {
  }
  return test.take();
}

}  // namespace

namespace {

void check_order(const ExplainGolden& golden, const std::string& order, const OrderTest& got) {
  golden.check_near(order + ".deletion", got.deletion);
  golden.check_near(order + ".insertion", got.insertion);
  golden.check_near(order + ".score", std::span(&got.score, 1));
  golden.check_near(order + ".comprehensiveness", got.comprehensiveness);
  golden.check_near(order + ".sufficiency", got.sufficiency);
}

// `name`: an entry of explain.json, and the prefix of its tensors' names.
void check_faithfulness(const ExplainGolden& golden, const std::string& name,
                        const ExplainedText& text) {
  const Json& plan = golden.plan.at(name);
  FaithfulnessTest::Subject subject = {.text = text,
                                       .ranking = {.parts = plan.at("words"), .scores = {}}};
  if (plan.at("probability") == "sigmoid") subject.probability = Probability::sigmoid;
  for (const std::vector<std::size_t>& word : subject.ranking.parts) {
    float& score = subject.ranking.scores.emplace_back(0.0f);
    for (const std::size_t token : word) score += plan.at("scores").at(token).get<float>();
  }
  const Faithfulness got =
      run({golden.runner(), std::move(subject), plan.at("orders"), plan.at("seed")});
  CHECK(got.counts == plan.at("counts").get<std::vector<std::size_t>>());
  check_order(golden, name + ".order", got.scores);
  check_order(golden, name + ".leave_one_out", got.leave_one_out);
  golden.check_near(name + ".losses", got.losses);
  golden.check_near(name + ".random", got.random);
}

}  // namespace

TEST_CASE("words are left out in PyTorch's order", "[explain]") {
  const ExplainGolden golden = explain_golden();
  check_faithfulness(golden, "faithfulness", golden.text);
}

TEST_CASE("long texts leave out quantiles of words, as in PyTorch", "[explain]") {
  const ExplainGolden golden("pre_norm_mean");
  check_faithfulness(golden, "many_words", {.ids = golden.plan.at("many_words").at("ids")});
}

TEST_CASE("deletion and insertion equal runs with masked words", "[explain]") {
  Subject subject("pre_norm_mean");
  const double full = subject.number({});
  const FaithfulnessTest::Subject parts = parts_of(subject.text);
  const Faithfulness got = run({subject.runner(), parts, 8, 3});
  CHECK(static_cast<float>(full) == got.full);
  const std::size_t n = parts.ranking.parts.size();
  REQUIRE(n == 8);
  std::vector<std::size_t> expected_counts(n - 1);
  std::iota(expected_counts.begin(), expected_counts.end(), std::size_t{1});
  CHECK(got.counts == expected_counts);

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return parts.ranking.scores[a] > parts.ranking.scores[b];
  });
  double score = 0;
  for (std::size_t k = 1; k < n; ++k) {
    std::vector<std::size_t> removed, others;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::size_t>& to = i < k ? removed : others;
      to.insert(to.end(), {2 * order[i], 2 * order[i] + 1});
    }
    std::ranges::sort(removed);
    std::ranges::sort(others);
    CHECK(std::abs(subject.number({}, removed) - static_cast<double>(got.scores.deletion[k - 1])) <
          1e-6);
    CHECK(std::abs(subject.number({}, others) - static_cast<double>(got.scores.insertion[k - 1])) <
          1e-6);
    score +=
        (subject.number({}, others) - subject.number({}, removed)) / static_cast<double>(n - 1);
  }
  CHECK(std::abs(score - static_cast<double>(got.scores.score)) < 1e-5);
  for (std::size_t i = 0; i < n; ++i) {
    const double loss = full - subject.number({}, {2 * i, 2 * i + 1});
    CHECK(std::abs(loss - static_cast<double>(got.losses[i])) < 1e-6);
  }
  CHECK(got.scores.comprehensiveness.size() == 4);
  CHECK(got.scores.sufficiency.size() == 4);
  // 5 % and 10 % of eight words are both one word; 50 % are four.
  CHECK(got.scores.comprehensiveness[0] == got.scores.comprehensiveness[1]);
  CHECK(got.leave_one_out.score >= got.scores.score - 1e-3f);
  CHECK(got.random.size() == 8);
  CHECK(got.random_deviation() > 0);

  // The result does not depend on the size of a step; another seed gives other orders.
  const Faithfulness slow = run({subject.runner(), parts, 8, 3}, 1);
  CHECK(slow.scores.deletion == got.scores.deletion);
  CHECK(slow.random == got.random);
  CHECK(run({subject.runner(), parts, 8, 4}).random != got.random);
}

TEST_CASE("the reverse of an order has the opposite score", "[explain]") {
  Subject subject("post_norm_gelu_learned_first");
  FaithfulnessTest::Subject parts = parts_of(subject.text);
  parts.ranking.parts.erase(
      parts.ranking.parts.begin());  // keeps the first token, from which the model answers
  parts.ranking.scores.erase(parts.ranking.scores.begin());
  const float forward = run({subject.runner(), parts, 0, 1}).scores.score;
  for (float& score : parts.ranking.scores) score = -score;
  const Faithfulness backward = run({subject.runner(), parts, 0, 1});
  CHECK(std::abs(forward + backward.scores.score) < 1e-5f);
  CHECK(backward.random.empty());
  CHECK(backward.random_deviation() == 0);
}

TEST_CASE("long texts use quantiles of words, and texts of one word are refused", "[explain]") {
  Subject subject("pre_norm_mean");
  subject.text.ids.assign(60, 5);
  for (std::size_t i = 0; i < 60; ++i) subject.text.ids[i] += static_cast<std::int32_t>(i % 7);
  FaithfulnessTest::Subject parts = {.text = subject.text, .ranking = {}};
  for (std::size_t i = 0; i < 50; ++i) {
    parts.ranking.parts.push_back({i});
    parts.ranking.scores.push_back(0);
  }
  const Faithfulness got = run({subject.runner(), parts, 1, 1});
  REQUIRE(got.counts.size() == 20);
  CHECK(std::ranges::is_sorted(got.counts));
  CHECK(std::ranges::adjacent_find(got.counts) == got.counts.end());
  CHECK((got.counts.front() >= 1 && got.counts.back() < 50));
  parts.ranking.parts.resize(1);
  CHECK(error_of([&] {
          run({subject.runner(), parts, 1, 1});
        }).code() == ErrorCode::invalid_option);
}

namespace {

Stream stream_of(const ExplainGolden& golden) {
  const std::size_t layers = golden.model->encoder().stack().config().layers.size();
  return stream_of(trace(golden.runner(), golden.text, stream_tensors(layers)), layers);
}

}  // namespace

TEST_CASE("edges are cut as in PyTorch", "[explain]") {
  const ExplainGolden golden = explain_golden();
  std::vector<AttentionEdge> edges;
  for (const auto& [layer, head, query, key] :
       golden.plan.at("edges").get<std::vector<std::array<std::size_t, 4>>>()) {
    edges.push_back({layer, head, query, key});
  }
  for (const auto& [name, cut] :
       {std::pair("edges.scores", Cut::scores), std::pair("edges.weights", Cut::weights)}) {
    const CutEffects got =
        cut_edges(golden.runner(), stream_of(golden), edges, cut, golden.contrast);
    golden.check_near("value", static_cast<double>(got.full), golden.plan.at("value"));
    std::vector<float> values = got.alone;
    values.push_back(got.without);
    golden.check_near(name, values);
  }
}

TEST_CASE("cutting an edge equals patching its score or weight", "[explain]") {
  Subject subject(GENERATE("pre_norm_mean", "local_window", "post_norm_gelu_learned_first"), 3);
  INFO(subject.name);
  const double full = subject.number({});
  const std::vector<AttentionEdge> edges = {{0, 1, 3, 4}, {1, 0, 0, 1}, {1, 1, 5, 5}};
  const Stream stream = subject.stream();
  for (const Cut cut : {Cut::scores, Cut::weights}) {
    const bool scores = cut == Cut::scores;
    const auto patch = [&](const AttentionEdge& edge) {
      return Patch{.name = "encoder.layers." + std::to_string(edge.layer) +
                           (scores ? ".self_attn.scores" : ".self_attn.weights"),
                   .tokens = {{edge.query}},
                   .heads = {{edge.head}},
                   .keys = {{edge.key}},
                   .value = {scores ? -std::numeric_limits<float>::infinity() : 0.0f}};
    };
    const CutEffects got = cut_edges(subject.runner(), stream, edges, cut, subject.contrast);
    CHECK(std::abs(static_cast<double>(got.full) - full) < 1e-6);
    std::vector<Patch> all;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      all.push_back(patch(edges[i]));
      const double loss = full - subject.number({all.back()});
      CHECK(std::abs(loss - static_cast<double>(got.alone[i])) < 1e-5);
    }
    CHECK(std::abs(subject.number(all) - static_cast<double>(got.without)) < 1e-5);
  }
  const AttentionEdge none = {0, 0, 99, 0};
  const Error error = error_of([&] {
    cut_edges(subject.runner(), stream, std::span(&none, 1), Cut::scores, subject.contrast);
  });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK_THAT(error.what(), ContainsSubstring("got layer 0, head 0, query 99, key 0"));
}

TEST_CASE("edges that attention does not have are not cut", "[explain]") {
  const Subject subject("pre_norm_mean"), linear("linear_attention");
  const auto model = load_model(subject.folder, subject.config, Compute::int8);
  CHECK(error_of([&] { expect_cuttable(*model, Cut::weights); }).code() == ErrorCode::unsupported);
  CHECK(error_of([&] { expect_cuttable(*linear.model, Cut::scores); }).code() ==
        ErrorCode::unsupported);
  expect_cuttable(*linear.model, Cut::weights);
}

TEST_CASE("cutting all edges of a head ablates it", "[explain]") {
  Subject subject(GENERATE("pre_norm_mean", "linear_attention"));
  subject.number({});
  EdgeSet set(subject.config.encoder(), subject.text.tokens());
  const std::size_t all = set.size();
  set.cut_head(1, 1);
  CHECK(set.size() == all - subject.text.tokens() * subject.text.tokens());
  CHECK(!set.has({1, 1, 2, 3}));
  CHECK(set.has({1, 0, 2, 3}));
  const EdgeSet* const one = &set;
  const std::vector<float> logits =
      logits_with(subject.runner(), subject.stream(), std::span(&one, 1), Cut::weights);
  CHECK(std::abs(subject.contrast.of(logits.data()) - subject.number({ablation({1, 1})})) < 1e-6);
}

TEST_CASE("a circuit is the one found with PyTorch's runs", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const Json& plan = golden.plan.at("circuit");
  CircuitSearch search(golden.runner(), golden.read(plan.at("text")), plan.at("least"));
  while (search.step()) {
  }
  const Circuit got = search.circuit();
  CHECK(got.label == plan.at("label"));
  CHECK(got.heads == plan.at("heads").get<std::vector<std::pair<std::size_t, std::size_t>>>());
  const GoldenTensor& arrows = golden.expected.at("circuit.kept");  // [L, H, T, T]
  std::vector<float> kept(arrows.values.size());
  for (const AttentionEdge& edge : got.edges) {
    const std::size_t head = edge.layer * arrows.shape[1] + edge.head;
    kept[(head * arrows.shape[2] + edge.query) * arrows.shape[3] + edge.key] = 1;
  }
  CHECK(kept == arrows.values);
  const std::vector<float> numbers = {got.full, got.kept, got.nothing, got.faithfulness};
  golden.check_near("circuit.numbers", numbers);
}

TEST_CASE("the edges of a circuit suffice for the verdict", "[explain]") {
  Subject subject(GENERATE("pre_norm_mean", "tutorial_post_norm", "post_norm_gelu_learned_first"));
  INFO(subject.name);
  const double full = subject.number({});
  const float least = GENERATE(0.5f, 0.9f);
  CircuitSearch search(subject.runner(), subject.text, least);
  while (search.step()) {
  }
  const Circuit circuit = search.circuit();
  CHECK(circuit.label == subject.contrast.label);
  CHECK(std::abs(static_cast<double>(circuit.full) - full) < 1e-6);
  CHECK(circuit.faithfulness >= least);
  CHECK(circuit.faithfulness <= 2 - least);

  // Runs with only the circuit's edges, by patching all others.
  std::vector<Patch> others;
  const std::size_t tokens = subject.text.tokens(), heads = subject.config.encoder().n_heads();
  for (std::size_t layer = 0; layer < 2; ++layer) {
    Patch patch = {.name = "encoder.layers." + std::to_string(layer) + ".self_attn.weights",
                   .shape = {heads, tokens, tokens},
                   .value = std::vector<float>(heads * tokens * tokens)};
    others.push_back(patch);
  }
  CHECK(std::abs(subject.number(others) - static_cast<double>(circuit.nothing)) < 1e-5);
  EdgeSet set(subject.config.encoder(), tokens);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < heads; ++head) set.cut_head(layer, head);
  }
  CHECK(set.size() == 0);
  const std::size_t all = 2 * heads * tokens * tokens;
  CHECK(circuit.edges.size() < all);
  for (const AttentionEdge& edge : circuit.edges) {
    CHECK(std::ranges::find(circuit.heads, std::pair(edge.layer, edge.head)) !=
          circuit.heads.end());
  }
}

TEST_CASE("explanations are returned as JSON with separate tensors", "[explain]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden_folder);
  const std::string text = "not good at all";
  const Classification plain = pipeline->classify(text);
  for (const char* method : {"rollout", "value_norms", "value_zeroing", "lens",
                             "direct_logit_attribution", "faithfulness", "circuit"}) {
    INFO(method);
    const Json got = explain_one(*pipeline, text, Json{{"method", method}}.dump());
    CHECK(got.at("method") == method);
    CHECK(got.at("label") == plain.label);
    CHECK(got.at("tokens").size() == plain.tokens.size());
    CHECK(got.at("clipped") == false);
    const std::vector<TextInput> both = {text, ""};
    const auto results =
        run_all(*begin_explanation(*pipeline, both, request_for(*pipeline, method)));
    REQUIRE(results.size() == 2);
    CHECK(std::get<ExplainedInput>(results[0]).label == plain.label);
    CHECK(std::get<ExplainedInput>(results[0]).tokens == plain.tokens);
    CHECK(std::get<Error>(results[1]).code() == ErrorCode::empty_input);
  }
  const auto [json, tensors] =
      explain_beside(*pipeline, text, R"({"method": "direct_logit_attribution", "effects": true})");
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "written");
  CHECK(tensors[0].shape ==
        std::vector<std::size_t>{plain.tokens.size(), json.at("columns").size()});
  const double sum = std::accumulate(tensors[1].data.begin(), tensors[1].data.end(), 0.0);
  CHECK(std::abs(sum - json.at("value").get<double>()) < 1e-4);
  CHECK(json.at("effects").size() == json.at("columns").size());

  const Json lens = explain_one(*pipeline, text, R"({"method": "lens"})");
  CHECK(lens.at("layers").size() == 3);
  CHECK(lens.at("layers").back().at("label") == plain.label);
  float best = 0;
  for (const Json& each : lens.at("layers").back().at("scores")) {
    best = std::max(best, each.at("score").get<float>());
  }
  CHECK(std::abs(best - plain.score) < 1e-6f);
}

TEST_CASE("the tokens of a word stay together in an explanation's input", "[explain]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden_folder);
  const ClassifierExplainer explainer(*pipeline);
  const std::string text = "the plot makes no sense";
  const ExplainInput input = explainer.read(text);
  REQUIRE(input.words.size() == 5);
  std::size_t next = 0;
  for (const auto& word : input.words) {
    for (const std::size_t token : word) CHECK(token == next++);
  }
  CHECK(next == input.text.tokens());
  CHECK(input.sentence_starts == std::vector<std::size_t>{0});
}

TEST_CASE("activation patching takes two texts and reports which tokens are aligned", "[explain]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden_folder);
  const TextInput texts("the plot makes no sense", "the plot makes sense");
  const Json got = explain_one(*pipeline, texts, R"({"method": "activation_patching"})");
  std::size_t unpaired = 0;
  for (const Json& cell : got.at("cells")) unpaired += cell.at("unpaired").get<bool>();
  CHECK(unpaired == got.at("tokens").size() - got.at("donorTokens").size());
  CHECK(unpaired > 0);
  CHECK(got.at("delta").at("shape") == Json({3, got.at("tokens").size()}));
  CHECK(got.at("base") == got.at("plainBase"));
  CHECK(got.at("donor") != got.at("plainDonor"));
  for (const char* site : {"attention", "feed_forward", "head"}) {
    Json options = {{"method", "activation_patching"}, {"site", site}};
    if (options.at("site") == "head") options["head"] = 1;
    const Json at = explain_one(*pipeline, texts, options.dump());
    CHECK(at.at("delta").at("shape") == Json({2, got.at("tokens").size()}));
  }

  // Above 64 tokens, a cell is a word.
  ModelConfig config = pipeline->config();
  config.architecture.encoder->max_length = 512;
  ClassifyPipeline wide(config, load_tokenizer(golden_folder));
  load_weights(golden_folder, wide.parameters());
  std::string base, donor;
  for (int i = 0; i < 8; ++i) {
    base += "the plot makes no sense . ";
    donor += "the plot makes sense . ";
  }
  const Json words = explain_one(wide, {base, donor}, R"({"method": "activation_patching"})");
  REQUIRE(words.at("tokens").size() > 64);
  CHECK(words.at("cells").size() == 48);
  // Above 64 words, a cell is a sentence.
  std::string sentences;
  for (int i = 0; i < 16; ++i) sentences += "The plot makes no sense. ";
  const Json cells =
      explain_one(wide, {sentences, donor}, R"({"method": "activation_patching"})").at("cells");
  REQUIRE(cells.size() == 16);
  CHECK(cells[1].at("tokens").size() > 10);
}

TEST_CASE("the public Explainer explains the Classifier's answers", "[explain]") {
  Explainer explainer = Explainer::load(golden_folder);
  Classifier classifier = Classifier::load(golden_folder);
  const std::string text = "not good at all", donor = "good at all";
  const Classification plain = classifier.classify(text);
  const auto check = [&](const auto& explanation) {
    CHECK(explanation.label == plain.label);
    CHECK(explanation.tokens == plain.tokens);
    CHECK(!explanation.clipped);
  };
  const auto rolled = explainer.rollout(text);
  check(rolled);
  CHECK(std::abs(std::accumulate(rolled.part.scores.begin(), rolled.part.scores.end(), 0.0) - 1) <
        1e-5);
  check(explainer.value_norms(text));
  const auto zeroed = explainer.value_zeroing(text);
  check(zeroed);
  CHECK(zeroed.part.scores.size() == plain.tokens.size());
  const auto read = explainer.lens(text);
  check(read);
  CHECK(std::equal(plain.logits.begin(), plain.logits.end(), read.part.logits.end() - 2));
  const auto parts =
      explainer.direct_logit_attribution(text, {.label = "positive", .effects = true});
  CHECK(parts.label == "positive");
  CHECK(std::abs(parts.part.sum(parts.part.written) -
                 static_cast<double>(plain.logits[1] - plain.logits[0])) < 1e-4);
  const auto carried = explainer.activation_patching(text, donor);
  check(carried);
  CHECK(carried.part.table.rows == 3);
  CHECK(carried.part.donor_of.size() == plain.tokens.size());
  CHECK(carried.part.donor_tokens == classifier.classify(donor).tokens);
  FaithfulnessOptions options = {.scores = std::vector<float>(plain.tokens.size())};
  check(explainer.faithfulness(text, options));
  options.scores.pop_back();
  CHECK(error_of([&] { explainer.faithfulness(text, options); }).code() ==
        ErrorCode::invalid_option);
  const AttentionEdge edge = {1, 2, 3, 4};
  const auto cut = explainer.cut(text, std::span(&edge, 1), Cut::weights);
  check(cut);
  CHECK(std::abs(cut.part.full - cut.part.without - cut.part.alone.at(0)) < 1e-5f);
  const auto circuit = explainer.circuit(text, 0.7f);
  check(circuit);
  CHECK(circuit.part.faithfulness >= 0.7f);
  CHECK(error_of([&] { explainer.direct_logit_attribution(text, {.label = "fine"}); }).code() ==
        ErrorCode::invalid_option);
  CHECK(error_of([&] { explainer.lens(""); }).code() == ErrorCode::empty_input);
}

TEST_CASE("invalid options of explanations are refused by name", "[explain]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden_folder);
  const auto refused = [&](const std::string& options, const std::string& message) {
    INFO(options);
    const Error error = error_of([&] { begin_explanation_job(*pipeline, {}, options); });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK_THAT(error.what(), ContainsSubstring(message));
  };
  refused("{}", "method: missing");
  refused(R"({"method": "magic"})",
          "method: expected one of rollout, value_norms, value_zeroing, lens, "
          "direct_logit_attribution");
  refused(R"({"method": "rollout", "label": "positive"})", "\"label\": unknown field");
  refused(R"({"method": "direct_logit_attribution", "label": "fine"})",
          "label: expected one of negative, positive, got");
  refused(R"({"method": "activation_patching", "site": "head"})", "head: missing");
  refused(R"({"method": "activation_patching", "head": 1})",
          "head: expected it only with site head");
  refused(R"({"method": "decoder_lens"})", "method: expected one of rollout");
  refused(R"({"method": "rollout", "interpolate": true})", "\"interpolate\": unknown field");
  refused(R"({"method": "activation_patching", "site": "mind"})", "site: expected one of residual");
  refused(R"({"method": "edges"})", "edges: missing");
  refused(R"({"method": "edges", "edges": []})", "edges: expected an array of one or more");
  refused(R"({"method": "edges", "edges": [{"layer": 0}]})", "edges[0]: head: missing");
  refused(R"({"method": "circuit", "least": 2})", "least");
  refused(R"({"method": "faithfulness", "of": "tea leaves"})",
          "of: expected one of rollout, value");
  refused(R"({"method": "faithfulness", "orders": 5000})", "orders");
  refused(R"({"method": "faithfulness", "scores": {"shape": [2], "offset": 0}})", "scores");

  const auto error_for = [&](const TextInput& text, const std::string& options) {
    return std::get<Error>(explain(*pipeline, {text}, options).at(0)).code();
  };
  CHECK(error_for("a film", R"({"method": "activation_patching"})") == ErrorCode::invalid_option);
  CHECK(error_for(
            "a film",
            R"({"method": "edges", "edges": [{"layer": 9, "head": 0, "query": 0, "key": 0}]})") ==
        ErrorCode::invalid_option);
  CHECK(error_for("a", R"({"method": "faithfulness"})") == ErrorCode::invalid_option);

  const auto namer =
      load_pipeline(GLASSFORMER_SOURCE_DIR "/tests/fixtures/checkpoints/bert_tokens", {});
  CHECK(error_of([&] { begin_explanation_job(*namer, {}, R"({"method": "lens"})"); }).code() ==
        ErrorCode::invalid_option);
}

}  // namespace glassformer::test
