#pragma once

#include <string>
#include <vector>

#include "explain/circuits/circuit.hpp"
#include "explain/circuits/edge_attribution.hpp"

namespace glassformer {

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
