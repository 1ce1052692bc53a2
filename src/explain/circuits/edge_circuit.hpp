#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explain/circuits/circuit.hpp"
#include "explain/circuits/edge_attribution.hpp"

namespace glassformer {

/// Finds a circuit by the scores of edges (Hanna et al. 2024), and measures it.
class EdgeCircuitSearch {
 public:
  /// One circuit for all subjects, of the same model. The steps throw the errors of CircuitRuns,
  /// and `invalid_option` if the texts of a pair have the same number, for more edges than there
  /// are, and for an edge that does not exist.
  EdgeCircuitSearch(std::vector<CircuitSubject> subjects, const EdgeCircuitOptions& options);

  /// Runs or scores one pair of texts, or measures it with one circuit. Returns whether any are
  /// left.
  bool step();
  /// Returns the result. Call it when no step is left.
  EdgeCircuit take();

 private:
  const CircuitGraph& graph() const { return runs_.front()->graph(); }
  void run_next();
  void expect_edges() const;
  void score_next();
  std::vector<bool> largest(std::size_t count) const;
  std::vector<bool> all_but(const std::vector<std::string>& cut) const;
  std::vector<bool> random(std::size_t count) const;
  // Returns the mean faithfulness after the last pair.
  std::optional<float> measure_next(const std::vector<bool>& kept);

  std::vector<CircuitSubject> subjects_;  // that are still to be run, the next one last
  EdgeCircuitOptions options_;
  std::vector<std::unique_ptr<CircuitRuns>> runs_;
  EdgeCircuit::Numbers mean_;
  std::vector<double> nothing_;  // of each pair
  std::vector<float> scores_;    // sums over the pairs that are scored
  std::size_t scored_ = 0, measured_ = 0;
  double kept_ = 0;                 // of the pairs that are measured
  std::vector<std::size_t> order_;  // edges, the largest score first
  std::vector<std::size_t> counts_;
  std::vector<EdgeCircuit::Point> curve_;
  std::vector<float> random_;  // of the point that is measured
};

}  // namespace glassformer
