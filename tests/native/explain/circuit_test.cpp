// Circuits of models that write, compared with the same graph in PyTorch and with properties that
// hold for any model.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "explain/circuits/edge_circuit.hpp"
#include "glassformer/classifier.hpp"
#include "glassformer/explainer.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "support/writer_golden.hpp"

namespace glassformer::test {
namespace {

// Two texts of a checkpoint, and what tests/fixtures/checkpoints/circuits.py found of them.
class CircuitGolden : public WriterGolden {
 public:
  explicit CircuitGolden(const std::string& name)
      : WriterGolden("circuits.json", name), clean(text("ids")), corrupt(text("corrupt")) {}

  CircuitSubject subject() { return {circuit_texts(runner(), clean, corrupt), contrast}; }

  std::vector<float> expected(const std::string& scores) const { return golden.at(scores); }

  DecodedText clean, corrupt;
};

void check_scores(const std::string& what, std::span<const float> got,
                  const std::vector<float>& expected) {
  INFO(what);
  float most = 1;
  for (const float each : expected) most = std::max(most, std::abs(each));
  CHECK(distance(got, expected) <= 1e-4f * most);
}

}  // namespace

TEST_CASE("the scores of edges equal PyTorch's", "[circuit]") {
  const std::string name = any_writer();
  INFO(name);
  CircuitGolden golden(name);
  CircuitMetric metric = CircuitMetric::logit_difference;
  Ablation ablation = Ablation::corrupt;
  const auto scores = [&](std::size_t steps) {
    return CircuitRuns(golden.subject(), metric, ablation).scores(steps);
  };
  const CircuitRuns runs(golden.subject(), metric, ablation);
  std::vector<std::string> nodes, inputs;
  for (const CircuitNode& node : runs.graph().nodes()) nodes.push_back(to_string(node));
  for (const CircuitInput& input : runs.graph().inputs()) inputs.push_back(to_string(input));
  CHECK(nodes == golden.golden.at("nodes").get<std::vector<std::string>>());
  CHECK(inputs == golden.golden.at("inputs").get<std::vector<std::string>>());
  CHECK(std::abs(runs.clean() - golden.golden.at("value").get<double>()) < 1e-3);
  CHECK(std::abs(runs.corrupt() - golden.golden.at("corrupt_value").get<double>()) < 1e-3);
  check_scores("eap", scores(0), golden.expected("eap"));
  check_scores("ig", scores(5), golden.expected("ig"));
  metric = CircuitMetric::log_probability;
  check_scores("log_probability", scores(0), golden.expected("log_probability"));
  metric = CircuitMetric::divergence;
  check_scores("divergence", scores(1), golden.expected("divergence"));
  metric = CircuitMetric::logit_difference;
  ablation = Ablation::zero;
  check_scores("zero", scores(0), golden.expected("zero"));
}

TEST_CASE("a run with some edges equals PyTorch's", "[circuit]") {
  const std::string name = any_writer();
  INFO(name);
  CircuitGolden golden(name);
  const CircuitRuns runs(golden.subject(), CircuitMetric::logit_difference, Ablation::corrupt);
  std::vector<bool> kept(runs.graph().edges());
  for (const std::size_t edge : golden.golden.at("kept").get<std::vector<std::size_t>>()) {
    kept[edge] = true;
  }
  CHECK(std::abs(runs.number_with(kept) - golden.golden.at("number").get<double>()) < 1e-3);
  // All edges are the clean text's run, none the corrupt one's, whatever is added instead.
  CHECK(std::abs(runs.number_with(std::vector<bool>(kept.size(), true)) - runs.clean()) < 1e-3);
  CHECK(std::abs(runs.number_with(std::vector<bool>(kept.size())) - runs.corrupt()) < 1e-3);
  const CircuitRuns means(golden.subject(), CircuitMetric::logit_difference, Ablation::mean);
  CHECK(std::abs(means.number_with(std::vector<bool>(kept.size(), true)) - runs.clean()) < 1e-3);
  CHECK(std::abs(means.number_with(std::vector<bool>(kept.size())) - runs.corrupt()) > 1e-3);
}

TEST_CASE("edges without a way to both ends carry nothing", "[circuit]") {
  CircuitGolden golden("gpt2_generate");
  const CircuitRuns runs(golden.subject(), CircuitMetric::logit_difference, Ablation::corrupt);
  const CircuitGraph& graph = runs.graph();
  std::vector<bool> kept(graph.edges());
  for (std::size_t edge = 0; edge < kept.size(); edge += 3) kept[edge] = true;
  const double number = runs.number_with(kept);
  std::vector<bool> joined = kept;
  graph.prune(joined);
  CHECK(joined != kept);
  CHECK(std::abs(runs.number_with(joined) - number) < 1e-4);
  std::vector<bool> again = joined;
  graph.prune(again);
  CHECK(again == joined);
}

TEST_CASE("a circuit is found and measured", "[circuit]") {
  CircuitGolden golden("m2m_100");
  const auto found = [&](const EdgeCircuitOptions& options) {
    std::vector<CircuitSubject> subjects;
    subjects.push_back(golden.subject());
    EdgeCircuitSearch search(std::move(subjects), options);
    while (search.step()) {
    }
    return search.take();
  };
  const EdgeCircuit circuit = found({});
  REQUIRE(circuit.curve.size() == 7);
  CHECK(std::abs(circuit.curve.back().faithfulness - 1) < 1e-4f);
  CHECK(circuit.curve.back().random == circuit.curve.back().faithfulness);
  CHECK(std::abs(circuit.mean.nothing - circuit.mean.corrupt) < 1e-3);
  CHECK(circuit.faithfulness >= 0.8f);
  CHECK(circuit.edges.size() < circuit.curve.back().edges);
  CHECK(std::ranges::is_sorted(circuit.edges, [](const auto& a, const auto& b) {
    return std::abs(a.score) > std::abs(b.score);
  }));
  CHECK(circuit.area > circuit.random_area);
  const EdgeCircuit ten = found({.edge_count = 10, .orders = 0});
  CHECK(ten.edges.size() <= 10);
  CHECK(error_of([&] { found({.edge_count = 10000}); }).code() == ErrorCode::invalid_option);
  golden.corrupt = golden.clean;
  CHECK(error_of([&] { found({}); }).code() == ErrorCode::invalid_option);
}

TEST_CASE("the library finds a circuit between two texts", "[circuit]") {
  auto explainer =
      NextTokenExplainer::load(GLASSFORMER_SOURCE_DIR "/weights/writer", {.compute = Compute::f32});
  const std::string clean = "The actors in this film", corrupt = "The actor in this film";
  const auto found = explainer.circuit(clean, corrupt, {.orders = 1});
  CHECK(found.part.token.text == " are");
  CHECK(found.part.against.text == " is");
  CHECK(found.part.circuit.faithfulness >= 0.8f);
  const EdgeCircuit::Edge& first = found.part.circuit.edges.front();
  const auto cut = explainer.circuit(clean, corrupt, {.cut = {first.from + ">" + first.to}});
  CHECK(cut.part.circuit.mean.kept < found.part.circuit.mean.clean - 1);
  const auto test = explainer.faithfulness(clean, {.of = "attn_lrp", .orders = 2});
  CHECK(test.part.test.random.size() == 2);
  CHECK(test.part.test.tokens == explainer.attn_lrp(clean).part.relevance.scores);
}

TEST_CASE("a classifier's edges to the logits are differences times the last gradient",
          "[circuit]") {
  const std::filesystem::path folder = GLASSFORMER_SOURCE_DIR "/weights/sentiment";
  auto explainer = Explainer::load(folder, {.compute = Compute::f32});
  auto classifier = Classifier::load(folder, {.compute = Compute::f32});
  const std::string clean = "This film is good.", corrupt = "This film is bad.";
  const auto found = explainer.circuit(clean, corrupt, {.steps = 0, .orders = 0}).part;
  const auto run = [&](const std::string& text) {
    return classifier.classify(
        text, {.encoder = {.trace = {"encoder.layers.*.fc2", "encoder.layers.0.input"},
                           .gradients = {"encoder.layers.3.output"}}});
  };
  const Classification of_clean = run(clean), of_corrupt = run(corrupt);
  const TracedTensor& gradient = of_clean.gradients.at(0);
  const std::size_t column = found.inputs.size() - 1;
  REQUIRE(found.inputs[column] == "logits");
  std::size_t checked = 0;
  for (std::size_t i = 0; i < of_clean.trace.size(); ++i) {
    const TracedTensor &a = of_clean.trace[i], &b = of_corrupt.trace[i];
    double expected = 0;
    for (std::size_t k = 0; k < a.data.size(); ++k) {
      expected += static_cast<double>((b.data[k] - a.data[k]) * gradient.data[k]);
    }
    std::string node = a.name;
    if (node.ends_with("layers.0.input")) node = "encoder.embed_tokens";
    const auto at = std::ranges::find(found.nodes, node) - found.nodes.begin();
    REQUIRE(static_cast<std::size_t>(at) < found.nodes.size());
    const float score = found.scores[static_cast<std::size_t>(at) * found.inputs.size() + column];
    INFO(node);
    CHECK(std::abs(static_cast<double>(score) - expected) < 1e-4);
    ++checked;
  }
  CHECK(checked == 5);
  // Whatever the circuit lacks is what the corrupt text has.
  CHECK(std::abs(found.curve.back().faithfulness - 1) < 1e-4f);
  CHECK(std::abs(found.mean.nothing - found.mean.corrupt) < 1e-3);
  const auto two = explainer.circuit(
      clean, corrupt, {.orders = 0, .more_pairs = {{"It was great.", "It was awful."}}});
  CHECK(two.part.pairs.size() == 2);
  const Error cancelled = error_of([&] {
    explainer.circuit(clean, corrupt, {.more_pairs = {{corrupt, clean}}}, "positive");
  });
  CHECK(std::string(cancelled.what()).find("cancel") != std::string::npos);
  const Error error = error_of([&] { explainer.circuit(clean, "This film is not good.", {}); });
  CHECK(error.code() == ErrorCode::invalid_option);
  auto post = Explainer::load(checkpoints / "bert_sequence", {.compute = Compute::f32});
  CHECK(error_of([&] { post.circuit("a film", "a film", {}); }).code() == ErrorCode::unsupported);
}

TEST_CASE("a graph that is no sum is refused by name", "[circuit]") {
  const auto refused = [](const std::string& name) {
    const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / name);
    return error_of([&] { CircuitGraph(nullptr, &pipeline->runner()->decoder().stack()); });
  };
  const Error error = refused("gemma2");
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(std::string(error.what()).find("norms of their outputs") != std::string::npos);
  const auto marian = load_pipeline<TranslatePipeline>(checkpoints / "marian");
  const Error post = error_of([&] { CircuitGraph(nullptr, &marian->runner()->decoder().stack()); });
  CHECK(post.code() == ErrorCode::unsupported);
}

}  // namespace glassformer::test
