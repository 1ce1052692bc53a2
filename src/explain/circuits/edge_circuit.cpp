#include "explain/circuits/edge_circuit.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "base/shuffle.hpp"
#include "base/split_mix.hpp"
#include "explain/spread.hpp"

namespace glassformer {
namespace {

constexpr std::size_t percents[] = {1, 2, 5, 10, 20, 50, 100};

// The area below a curve over the share of edges, from 0 on, where nothing is kept.
float area_below(const std::vector<EdgeCircuit::Point>& curve, float EdgeCircuit::Point::*height,
                 std::size_t edges) {
  double area = 0, before = 0, at = 0;
  for (const EdgeCircuit::Point& point : curve) {
    const double share = static_cast<double>(point.edges) / static_cast<double>(edges);
    const double here = static_cast<double>(point.*height);
    area += (share - at) * (before + here) / 2;
    at = share;
    before = here;
  }
  return static_cast<float>(area);
}

}  // namespace

EdgeCircuitSearch::EdgeCircuitSearch(const WriterRunner& model, const CircuitSubject& subject,
                                     const EdgeCircuitOptions& options)
    : runs_(model, subject, options.metric, options.ablation), options_(options) {
  const std::size_t edges = runs_.graph().edges();
  if (options.edge_count && (*options.edge_count == 0 || *options.edge_count > edges)) {
    throw_error(ErrorCode::invalid_option,
                {"edge_count: expected 1 to {}, got {}", {edges, *options.edge_count}});
  }
  nothing_ = runs_.number_with(std::vector<bool>(edges));
  // Smaller differences are rounding.
  if (std::abs(runs_.clean() - nothing_) < 1e-4 * std::max(1.0, std::abs(runs_.clean()))) {
    throw_error(ErrorCode::invalid_option,
                "text: expected two texts with different answers, got two for which the explained "
                "number is the same");
  }
  if (!options.cut.empty()) {
    uncut_ = all_but(options.cut);
    return;
  }
  for (const std::size_t percent : percents) {
    counts_.push_back(std::max<std::size_t>(1, (edges * percent + 50) / 100));
  }
}

std::vector<bool> EdgeCircuitSearch::largest(std::size_t count) const {
  std::vector<bool> kept(order_.size());
  for (std::size_t i = 0; i < count; ++i) kept[order_[i]] = true;
  runs_.graph().prune(kept);
  return kept;
}

std::vector<bool> EdgeCircuitSearch::all_but(const std::vector<std::string>& cut) const {
  const CircuitGraph& graph = runs_.graph();
  std::vector<bool> kept(graph.edges(), true);
  for (const std::string& name : cut) {
    bool found = false;
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
      const CircuitInput& input = graph.inputs()[i];
      const std::string end = ">" + to_string(input);
      if (!name.ends_with(end)) continue;
      for (std::size_t u = input.first; u < input.end; ++u) {
        if (to_string(graph.nodes()[u]) + end != name) continue;
        kept[graph.first_edge(i) + u - input.first] = false;
        found = true;
      }
    }
    if (!found) {
      throw_error(ErrorCode::invalid_option,
                  {"cut_edges: expected edges of the graph as \"FROM>TO\", got \"{}\"", {name}});
    }
  }
  return kept;
}

float EdgeCircuitSearch::faithfulness_of(const std::vector<bool>& kept) const {
  return static_cast<float>((runs_.number_with(kept) - nothing_) / (runs_.clean() - nothing_));
}

bool EdgeCircuitSearch::step() {
  if (!uncut_.empty()) return false;
  if (scores_.empty()) {
    scores_ = runs_.scores(options_.steps);
    order_ = sorted_order(scores_.size(), [&](std::size_t a, std::size_t b) {
      return std::abs(scores_[a]) > std::abs(scores_[b]);
    });
    return true;
  }
  if (curve_.size() == counts_.size()) return false;
  const std::size_t count = counts_[curve_.size()];
  if (random_.size() < options_.orders && count < order_.size()) {
    SplitMix64 random(options_.seed + 1000 * curve_.size() + random_.size());
    std::vector<std::size_t> drawn = order_;
    shuffle(drawn, random);
    std::vector<bool> kept(order_.size());
    for (std::size_t k = 0; k < count; ++k) kept[drawn[k]] = true;
    random_.push_back(faithfulness_of(kept));
    return true;
  }
  const std::vector<bool> kept = largest(count);
  const float faithfulness = faithfulness_of(kept);
  if (random_.empty() && count == order_.size()) random_.push_back(faithfulness);  // the same edges
  const Spread random = spread_of(random_);
  curve_.push_back({.edges = count,
                    .joined = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true)),
                    .faithfulness = faithfulness,
                    .random = random.mean,
                    .deviation = random.deviation});
  random_.clear();
  return curve_.size() < counts_.size();
}

EdgeCircuit EdgeCircuitSearch::take() {
  const CircuitGraph& graph = runs_.graph();
  std::size_t count = order_.size();
  const auto enough = [&](const EdgeCircuit::Point& point) {
    return point.faithfulness >= options_.least && point.faithfulness <= 2 - options_.least;
  };
  if (options_.edge_count) {
    count = *options_.edge_count;
  } else if (const auto found = std::ranges::find_if(curve_, enough); found != curve_.end()) {
    count = found->edges;
  }
  const std::vector<bool> kept = uncut_.empty() ? largest(count) : uncut_;
  EdgeCircuit result = {.clean = runs_.clean(),
                        .corrupt = runs_.corrupt(),
                        .nothing = nothing_,
                        .kept = runs_.number_with(kept)};
  result.faithfulness = static_cast<float>((result.kept - nothing_) / (result.clean - nothing_));
  for (const CircuitNode& node : graph.nodes()) result.nodes.push_back(to_string(node));
  for (const CircuitInput& input : graph.inputs()) result.inputs.push_back(to_string(input));
  if (!uncut_.empty()) return result;
  result.scores.resize(result.nodes.size() * result.inputs.size());
  for (std::size_t edge = 0; edge < scores_.size(); ++edge) {
    result.scores[graph.node_of(edge) * result.inputs.size() + graph.input_of(edge)] =
        scores_[edge];
  }
  for (const std::size_t edge : order_) {
    if (!kept[edge]) continue;
    result.edges.push_back(
        {result.nodes[graph.node_of(edge)], result.inputs[graph.input_of(edge)], scores_[edge]});
  }
  using Point = EdgeCircuit::Point;
  result.area = area_below(curve_, &Point::faithfulness, order_.size());
  result.random_area = area_below(curve_, &Point::random, order_.size());
  result.curve = std::move(curve_);
  return result;
}

}  // namespace glassformer
