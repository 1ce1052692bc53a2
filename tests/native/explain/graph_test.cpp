// Attribution graphs, compared with PyTorch's: see tests/fixtures/checkpoints/graphs.py.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "explain/dictionaries/attribution_graph.hpp"
#include "glassformer/explainer.hpp"
#include "support/error_of.hpp"
#include "support/writer_golden.hpp"

namespace glassformer::test {
namespace {

constexpr std::size_t features = 12, active = 3;

// The numbers of graphs.py.
std::vector<float> formula(double seed, std::size_t rows, std::size_t columns, double size) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double a = static_cast<double>(i), b = static_cast<double>(j);
      numbers.push_back(
          static_cast<float>(size * std::sin(1 + 37 * seed + 11 * a + 3 * b + a * b)));
    }
  }
  return numbers;
}

class GraphGolden : public WriterGolden {
 public:
  explicit GraphGolden(const std::string& name, DictionaryKind kind = DictionaryKind::transcoder)
      : WriterGolden("graphs.json", name) {
    const StackConfig& stack = runner()->decoder().stack().config();
    std::vector<DictionaryConfig> configs;
    std::vector<double> seeds;
    for (const auto& [writes, seed] : golden.at("dictionaries").items()) {
      configs.push_back({.kind = kind,
                         .reads = feed_forward_input(stack, "decoder", configs.size(),
                                                     !golden.at("target_ids").is_null()),
                         .writes = writes,
                         .d_model = stack.d_model,
                         .features = features,
                         .active = active});
      seeds.push_back(seed.get<double>());
    }
    dictionaries = std::make_unique<DictionarySet>(configs);
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const std::size_t width = stack.d_model;
      const std::vector<NamedParameter> parameters = (*dictionaries)[i].parameters();
      set_values(parameters[0], formula(seeds[i], features, width, 0.3), 0);
      set_values(parameters[1], formula(seeds[i] + 1, 1, features, 0.1), 0);
      set_values(parameters[2], formula(seeds[i] + 2, features, width, 0.2), 0);
      set_values(parameters[3], formula(seeds[i] + 3, 1, width, 0.05), 0);
    }
  }

  AttributionGraph graph(const AttributionGraphOptions& options) {
    const WriterRunner model = runner();
    AttributionGraphSearch search(model, text("ids"), contrast, *dictionaries, options);
    while (search.step()) {
    }
    return search.take();
  }

  std::unique_ptr<DictionarySet> dictionaries;
};

using Key = std::tuple<std::string, std::string, std::size_t, std::size_t>;

std::string kind_of(AttributionGraph::Kind kind) {
  constexpr std::array names = {"embedding", "feature", "error", "answer"};
  return names[static_cast<std::size_t>(kind)];
}

Key key_of(const AttributionGraph::Node& node) {
  return {kind_of(node.kind), node.name, node.row, node.feature};
}
Key key_of(const nlohmann::json& node) { return {node[0], node[1], node[2], node[3]}; }

constexpr AttributionGraphOptions everything = {
    .features = 1000, .nodes = 1, .edges = 1, .checked = 0};

}  // namespace

TEST_CASE("what excites features and the answer equals PyTorch's", "[graph]") {
  const std::string name = any_writer();
  INFO(name);
  GraphGolden golden(name);
  const AttributionGraph graph = golden.graph(everything);
  const nlohmann::json& nodes = golden.golden.at("nodes");
  std::map<std::pair<Key, Key>, float> weights;
  for (const AttributionGraph::Edge& edge : graph.edges) {
    weights[{key_of(graph.nodes[edge.from]), key_of(graph.nodes[edge.to])}] = edge.weight;
  }
  std::map<Key, const AttributionGraph::Node*> found;
  for (const AttributionGraph::Node& node : graph.nodes) found[key_of(node)] = &node;
  CHECK(std::abs(static_cast<double>(graph.nodes.back().activation) -
                 golden.golden.at("value").get<double>()) < 1e-3);
  std::size_t count = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    count += nodes[i][0] == "feature";
    const double influence = golden.golden.at("influence")[i];
    if (influence < 1e-6) continue;
    const auto node = found.find(key_of(nodes[i]));
    INFO(nodes[i].dump());
    REQUIRE(node != found.end());
    CHECK(std::abs(static_cast<double>(node->second->influence) - influence) < 1e-4);
    if (nodes[i][0] != "feature") continue;
    CHECK(std::abs(static_cast<double>(node->second->activation) - nodes[i][4].get<double>()) <
          1e-4);
  }
  CHECK(graph.active == count);
  const Key answer = key_of(graph.nodes.back());
  for (const auto& [to, causes] : golden.golden.at("causes").items()) {
    const Key target = to == "answer" ? answer : key_of(nodes[std::stoul(to)]);
    if (!found.contains(target)) continue;
    double most = 1, error = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double expected = causes[i];
      const auto got = weights.find({key_of(nodes[i]), target});
      if (got == weights.end() && std::abs(expected) > 1e-4) {
        CHECK(golden.golden.at("influence")[i].get<double>() < 1e-6);
        continue;
      }
      most = std::max(most, std::abs(expected));
      const double is = got == weights.end() ? 0 : static_cast<double>(got->second);
      error = std::max(error, std::abs(is - expected));
    }
    INFO(to);
    CHECK(error <= 1e-4 * most);
  }
  CHECK(std::abs(static_cast<double>(graph.replacement) -
                 golden.golden.at("replacement").get<double>()) < 1e-4);
  CHECK(std::abs(static_cast<double>(graph.completeness) -
                 golden.golden.at("completeness").get<double>()) < 1e-4);
}

TEST_CASE("features that are set to zero change as much as in PyTorch", "[graph]") {
  const std::string name = any_writer();
  INFO(name);
  GraphGolden golden(name);
  AttributionGraphOptions options = everything;
  options.checked = 100'000;
  const AttributionGraph graph = golden.graph(options);
  const nlohmann::json& nodes = golden.golden.at("nodes");
  std::map<std::pair<Key, Key>, const AttributionGraph::Check*> found;
  for (const AttributionGraph::Check& check : graph.checks) {
    found[{key_of(graph.nodes[check.from]), key_of(graph.nodes[check.to])}] = &check;
  }
  std::size_t compared = 0;
  for (const nlohmann::json& check : golden.golden.at("checks")) {
    const Key to =
        check[1] == "answer" ? key_of(graph.nodes.back()) : key_of(nodes[check[1].get<int>()]);
    const auto got = found.find({key_of(nodes[check[0].get<int>()]), to});
    if (got == found.end()) continue;  // no edge
    ++compared;
    INFO(check.dump());
    CHECK(std::abs(static_cast<double>(got->second->predicted) - check[2].get<double>()) < 1e-4);
    CHECK(std::abs(static_cast<double>(got->second->measured) - check[3].get<double>()) < 1e-4);
  }
  CHECK(compared >= 2);
}

TEST_CASE("a pruned graph is a part of the whole", "[graph]") {
  GraphGolden golden("gpt2_generate");
  const AttributionGraph whole = golden.graph(everything);
  const AttributionGraph part = golden.graph({.features = 20, .nodes = 0.6f, .edges = 0.8f});
  CHECK(part.explained == 20);
  CHECK(part.nodes.size() < whole.nodes.size());
  CHECK(part.edges.size() < whole.edges.size());
  CHECK(part.checks.size() <= 10);
  CHECK(part.replacement <= whole.replacement);  // what is not explained counts as error
  std::map<std::pair<Key, Key>, float> weights;
  for (const AttributionGraph::Edge& edge : whole.edges) {
    weights[{key_of(whole.nodes[edge.from]), key_of(whole.nodes[edge.to])}] = edge.weight;
  }
  for (const AttributionGraph::Edge& edge : part.edges) {
    const auto found = weights.find({key_of(part.nodes[edge.from]), key_of(part.nodes[edge.to])});
    REQUIRE(found != weights.end());
    CHECK(found->second == edge.weight);
  }
  // Every node leads to the answer.
  std::vector<bool> leads(part.nodes.size());
  for (const AttributionGraph::Edge& edge : part.edges) leads[edge.from] = true;
  leads.back() = true;
  CHECK(std::ranges::all_of(leads, [](bool each) { return each; }));
}

TEST_CASE("attribution graphs are of transcoders", "[graph]") {
  GraphGolden golden("gpt2_generate", DictionaryKind::sae);
  const Error error = error_of([&] { golden.graph({}); });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(std::string(error.what()).find("expected transcoders") != std::string::npos);
}

TEST_CASE("attribution graphs refuse dictionaries of other tensors", "[graph]") {
  GraphGolden golden("gpt2_generate");
  DictionaryConfig config = (*golden.dictionaries)[0].config();
  config.writes = "decoder.layers.77.fc2";
  golden.dictionaries = std::make_unique<DictionarySet>(std::vector{config});
  CHECK(error_of([&] { golden.graph({}); }).code() == ErrorCode::invalid_config);
}

TEST_CASE("NextTokenExplainer explains a token by features", "[graph]") {
  const std::string folder = GLASSFORMER_SOURCE_DIR "/weights/writer";
  auto explainer = NextTokenExplainer::load(folder, {.compute = Compute::f32});
  const std::string text = "This film is one of the";
  CHECK(error_of([&] { explainer.attribution_graph(text); }).code() == ErrorCode::invalid_option);
  explainer.load_dictionaries(folder + "/features");
  const auto [token, against, graph] =
      explainer.attribution_graph(text, {.features = 12, .checked = 2}).part;
  CHECK(graph.explained == 12);
  CHECK(graph.checks.size() == 2);
  CHECK(token.id != against.id);
  CHECK(graph.nodes.back().kind == AttributionGraph::Kind::answer);
  CHECK(graph.nodes.back().activation > 0);
}

}  // namespace glassformer::test
