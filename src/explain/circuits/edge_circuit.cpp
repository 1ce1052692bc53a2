#include "explain/circuits/edge_circuit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

// Whether the difference of two numbers is rounding.
bool are_equal(double clean, double nothing) {
  return std::abs(clean - nothing) < 1e-4 * std::max(1.0, std::abs(clean));
}

}  // namespace

EdgeCircuitSearch::EdgeCircuitSearch(std::vector<CircuitSubject> subjects,
                                     const EdgeCircuitOptions& options)
    : subjects_(std::move(subjects)), options_(options) {
  std::ranges::reverse(subjects_);
}

void EdgeCircuitSearch::run_next() {
  runs_.push_back(std::make_unique<CircuitRuns>(std::move(subjects_.back()), options_.metric,
                                                options_.ablation));
  subjects_.pop_back();
  if (runs_.size() == 1) expect_edges();
  const CircuitRuns& runs = *runs_.back();
  const double nothing = runs.number_with(std::vector<bool>(graph().edges()));
  if (are_equal(runs.clean(), nothing)) {
    throw_error(ErrorCode::invalid_option,
                "text: expected two texts with different answers, got two for which the explained "
                "number is the same");
  }
  nothing_.push_back(nothing);
  if (!subjects_.empty()) return;
  const double pairs = static_cast<double>(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    mean_.clean += runs_[i]->clean() / pairs;
    mean_.corrupt += runs_[i]->corrupt() / pairs;
    mean_.nothing += nothing_[i] / pairs;
  }
  if (are_equal(mean_.clean, mean_.nothing)) {
    throw_error(ErrorCode::invalid_option,
                "more_pairs: expected pairs whose numbers change alike, got some whose changes "
                "cancel each other");
  }
}

// Looks at the options that depend on the graph.
void EdgeCircuitSearch::expect_edges() const {
  const std::size_t edges = graph().edges(), count = options_.edge_count.value_or(1);
  if (count == 0 || count > edges) {
    throw_error(ErrorCode::invalid_option,
                {"edge_count: expected 1 to {}, got {}", {edges, count}});
  }
  all_but(options_.cut);
}

void EdgeCircuitSearch::score_next() {
  const std::vector<float> scores = runs_[scored_]->scores(options_.steps);
  scores_.resize(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores_[i] += scores[i] / static_cast<float>(runs_.size());
  }
  if (++scored_ < runs_.size()) return;
  order_ = sorted_order(scores_.size(), [&](std::size_t a, std::size_t b) {
    return std::abs(scores_[a]) > std::abs(scores_[b]);
  });
  for (const std::size_t percent : percents) {
    counts_.push_back(std::max<std::size_t>(1, (scores_.size() * percent + 50) / 100));
  }
}

std::vector<bool> EdgeCircuitSearch::largest(std::size_t count) const {
  std::vector<bool> kept(order_.size());
  for (std::size_t i = 0; i < count; ++i) kept[order_[i]] = true;
  graph().prune(kept);
  return kept;
}

std::vector<bool> EdgeCircuitSearch::all_but(const std::vector<std::string>& cut) const {
  const CircuitGraph& graph = this->graph();
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

std::vector<bool> EdgeCircuitSearch::random(std::size_t count) const {
  SplitMix64 random(options_.seed + 1000 * curve_.size() + random_.size());
  std::vector<std::size_t> drawn = order_;
  shuffle(drawn, random);
  std::vector<bool> kept(order_.size());
  for (std::size_t k = 0; k < count; ++k) kept[drawn[k]] = true;
  return kept;
}

std::optional<float> EdgeCircuitSearch::measure_next(const std::vector<bool>& kept) {
  kept_ += runs_[measured_]->number_with(kept) / static_cast<double>(runs_.size());
  if (++measured_ < runs_.size()) return std::nullopt;
  measured_ = 0;
  const double number = std::exchange(kept_, 0.0);
  return static_cast<float>((number - mean_.nothing) / (mean_.clean - mean_.nothing));
}

bool EdgeCircuitSearch::step() {
  if (!subjects_.empty()) {
    run_next();
    return !subjects_.empty() || options_.cut.empty();
  }
  if (!options_.cut.empty()) return false;
  if (scored_ < runs_.size()) {
    score_next();
    return true;
  }
  if (curve_.size() == counts_.size()) return false;
  const std::size_t count = counts_[curve_.size()];
  if (random_.size() < options_.orders && count < order_.size()) {
    if (const auto faithfulness = measure_next(random(count))) random_.push_back(*faithfulness);
    return true;
  }
  const std::vector<bool> kept = largest(count);
  const std::optional<float> faithfulness = measure_next(kept);
  if (!faithfulness) return true;
  if (random_.empty() && count == order_.size())
    random_.push_back(*faithfulness);  // the same edges
  const Spread random = spread_of(random_);
  curve_.push_back({.edges = count,
                    .joined = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true)),
                    .faithfulness = *faithfulness,
                    .random = random.mean,
                    .deviation = random.deviation});
  random_.clear();
  return curve_.size() < counts_.size();
}

EdgeCircuit EdgeCircuitSearch::take() {
  const CircuitGraph& graph = this->graph();
  std::size_t count = order_.size();
  const auto enough = [&](const EdgeCircuit::Point& point) {
    return point.faithfulness >= options_.least && point.faithfulness <= 2 - options_.least;
  };
  if (options_.edge_count) {
    count = *options_.edge_count;
  } else if (const auto found = std::ranges::find_if(curve_, enough); found != curve_.end()) {
    count = found->edges;
  }
  const bool searched = options_.cut.empty();
  const std::vector<bool> kept = searched ? largest(count) : all_but(options_.cut);
  EdgeCircuit result = {.mean = mean_};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const CircuitRuns& runs = *runs_[i];
    result.pairs.push_back({runs.clean(), runs.corrupt(), nothing_[i], runs.number_with(kept)});
    result.mean.kept += result.pairs.back().kept / static_cast<double>(runs_.size());
  }
  const EdgeCircuit::Numbers& mean = result.mean;
  result.faithfulness =
      static_cast<float>((mean.kept - mean.nothing) / (mean.clean - mean.nothing));
  for (const CircuitNode& node : graph.nodes()) result.nodes.push_back(to_string(node));
  for (const CircuitInput& input : graph.inputs()) result.inputs.push_back(to_string(input));
  if (!searched) return result;
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
