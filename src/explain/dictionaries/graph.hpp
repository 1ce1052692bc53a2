#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace glassformer {

struct AttributionGraphOptions {
  /// Features whose own causes are computed: those with the most influence. The others count as
  /// not explained.
  std::size_t features = 256;
  float nodes = 0.8f;        ///< the share of the influence that the nodes of the graph keep
  float edges = 0.95f;       ///< the same for its edges
  std::size_t checked = 10;  ///< edges that are tested on the model
};

/// Why a model writes one token and not another, as a graph of features (Ameisen et al. 2025,
/// "Circuit Tracing: Revealing Computational Graphs in Language Models"). Transcoders stand for the
/// feed-forward blocks; attention weights and the scales of norms are constants. Then what excites
/// a feature is a sum over what came before it: embeddings, features, and errors, which are what
/// the transcoders leave out.
struct AttributionGraph {
  enum class Kind {
    embedding,  ///< what a stack reads of a token
    feature,
    error,  ///< what features leave of a feed-forward block's output for a token
    answer,
  };
  struct Node {
    Kind kind;
    std::string name;         ///< of the tensor: "decoder.layers.2.fc2"; "logits"
    std::size_t row = 0;      ///< of the tensor
    std::size_t feature = 0;  ///< its number in the dictionary
    float activation = 0;     ///< of a feature; of the answer, the explained number
    float influence = 0;      ///< on the answer: the share of all ways to it
  };
  /// How much `from` adds to what excites `to`, both numbers in `nodes`.
  struct Edge {
    std::size_t from, to;
    float weight;
    float influence;  ///< on the answer, through this edge
  };
  /// A feature is set to zero in the model: how much its target falls.
  struct Check {
    std::size_t from, to;
    float predicted;  ///< by all ways of the graph from one to the other
    float measured;
  };
  std::vector<Node> nodes = {};  ///< embeddings first, the answer last
  std::vector<Edge> edges = {};  ///< the most influential first
  std::vector<Check> checks = {};
  float correlation = 0;      ///< Pearson's, of predicted and measured
  std::size_t active = 0;     ///< features that are active in the text
  std::size_t explained = 0;  ///< of them, those whose causes were computed
  float replacement = 0;      ///< the share of the influence of embeddings in that of both these
                              ///< and errors
  float completeness = 0;     ///< the share of what nodes read that is not errors, by influence
};

}  // namespace glassformer
