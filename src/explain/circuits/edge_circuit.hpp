#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/circuits/edge_attribution.hpp"

namespace glassformer {

struct EdgeCircuitOptions {
  std::size_t steps = 5;                       ///< see CircuitRuns::scores
  std::optional<std::size_t> edge_count = {};  ///< default: see EdgeCircuit::edges
  float least = 0.8f;
  /// Edges, each as "FROM>TO". If there are any, nothing is searched: the circuit is all others.
  std::vector<std::string> cut = {};
  std::size_t orders = 5;  ///< random circuits of each size
  std::uint32_t seed = 1;
};

/// The edges that carry a number from the words to the answer, as far as gradients tell.
struct EdgeCircuit {
  struct Edge {
    std::string from, to;
    float score;
  };
  /// Circuits of one size: that of the highest scores, and random ones.
  struct Point {
    std::size_t edges;   ///< with the largest scores, either sign
    std::size_t joined;  ///< those of them on a way from the embeddings to the logits
    float faithfulness;
    float random, deviation;  ///< the mean and standard deviation of random circuits of this size
  };
  double clean = 0, corrupt = 0;  ///< the number of both texts
  double nothing = 0;             ///< without any edge: what is added instead, everywhere
  double kept = 0;                ///< with the circuit
  float faithfulness = 0;         ///< (kept - nothing) / (clean - nothing)
  std::vector<std::string> nodes = {}, inputs = {};
  std::vector<float> scores = {};  ///< [nodes, inputs]; 0: there is no edge
  /// Of the requested number, or of the smallest size of the curve that is faithful enough: the
  /// edges on a way from the embeddings to the logits, that of the largest score first.
  std::vector<Edge> edges = {};
  std::vector<Point> curve = {};    ///< at 1, 2, 5, 10, 20, 50 and 100 % of the edges
  float area = 0, random_area = 0;  ///< below the curve and below that of random circuits
};

/// Finds a circuit by the scores of edges (Hanna et al. 2024), and measures it.
class EdgeCircuitSearch {
 public:
  /// Runs both texts. The subject must outlive this. Throws the errors of CircuitRuns, and
  /// `invalid_option` if both texts have the same number, for more edges than there are, and for an
  /// edge that does not exist.
  EdgeCircuitSearch(const WriterRunner& model, const CircuitSubject& subject,
                    const EdgeCircuitOptions& options);

  /// Scores all edges, or measures one circuit. Returns whether any are left.
  bool step();
  /// Returns the result. Call it when no step is left.
  EdgeCircuit take();

 private:
  std::vector<bool> largest(std::size_t count) const;
  std::vector<bool> all_but(const std::vector<std::string>& cut) const;
  float faithfulness_of(const std::vector<bool>& kept) const;

  CircuitRuns runs_;
  EdgeCircuitOptions options_;
  double nothing_ = 0;
  std::vector<bool> uncut_;  // empty: a circuit is searched
  std::vector<float> scores_;
  std::vector<std::size_t> order_;  // edges, the largest score first
  std::vector<std::size_t> counts_;
  std::vector<EdgeCircuit::Point> curve_;
  std::vector<float> random_;  // of the point that is measured
};

}  // namespace glassformer
