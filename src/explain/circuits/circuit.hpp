#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace glassformer {

/// The number that a circuit should keep.
enum class CircuitMetric {
  logit_difference,  ///< z_token - z_against
  log_probability,   ///< of the token
  divergence,        ///< minus the Kullback-Leibler divergence from the clean text's probabilities
};

/// The replacement for the output of a node, on edges outside the circuit.
enum class Ablation {
  corrupt,  ///< its output for the corrupt text
  mean,     ///< the mean of that over the tokens
  zero,
};

/// Options of a search for a circuit.
struct EdgeCircuitOptions {
  /// Two texts that the circuit is found for, too; of a model that writes, with their tokens.
  struct Pair {
    std::string clean, corrupt;
    std::optional<std::int32_t> token = {}, against = {};
  };
  CircuitMetric metric = CircuitMetric::logit_difference;
  Ablation ablation = Ablation::corrupt;
  std::size_t steps = 5;  ///< points at which gradients are computed; 0: the clean text
  std::optional<std::size_t> edge_count = {};  ///< default: see EdgeCircuit::edges
  float least = 0.8f;
  /// Edges, each as "FROM>TO". If there are any, nothing is searched: the circuit is all others.
  std::vector<std::string> cut = {};
  std::size_t orders = 5;  ///< random circuits of each size
  std::uint32_t seed = 1;
  std::vector<Pair> more_pairs = {};
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
  /// The numbers of two texts.
  struct Numbers {
    double clean = 0, corrupt = 0;
    double nothing = 0;  ///< without any edge: what is added instead, everywhere
    double kept = 0;     ///< with the circuit
  };
  Numbers mean = {};                ///< over all pairs of texts
  std::vector<Numbers> pairs = {};  ///< of each
  float faithfulness = 0;           ///< (kept - nothing) / (clean - nothing) of the means
  std::vector<std::string> nodes = {}, inputs = {};
  std::vector<float> scores = {};  ///< [nodes, inputs] means over pairs; 0: there is no edge
  /// Of the requested number, or of the smallest size of the curve that is faithful enough: the
  /// edges on a way from the embeddings to the logits, that of the largest score first.
  std::vector<Edge> edges = {};
  std::vector<Point> curve = {};    ///< at 1, 2, 5, 10, 20, 50 and 100 % of the edges
  float area = 0, random_area = 0;  ///< below the curve and below that of random circuits
};

}  // namespace glassformer
