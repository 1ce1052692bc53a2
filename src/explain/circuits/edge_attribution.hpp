#pragma once

#include <memory>
#include <span>
#include <vector>

#include "explain/circuits/circuit.hpp"
#include "explain/circuits/circuit_graph.hpp"
#include "explain/circuits/circuit_texts.hpp"
#include "explain/circuits/stream_catcher.hpp"
#include "explain/contrast.hpp"
#include "explain/gradients.hpp"

namespace glassformer {

/// Two texts, and the number.
struct CircuitSubject {
  std::unique_ptr<const CircuitTexts> texts;
  Contrast contrast;  ///< of the two tokens, or of a classifier's labels
};

/// What runs on both texts show: what each node adds, and what is added instead.
class CircuitRuns {
 public:
  /// Runs both texts. Throws the errors of CircuitGraph.
  CircuitRuns(CircuitSubject subject, CircuitMetric metric, Ablation ablation);

  const CircuitGraph& graph() const { return graph_; }
  double clean() const { return clean_; }
  double corrupt() const { return corrupt_; }

  /// Computes the scores of all edges, [edges] (Hanna et al. 2024, equation 5): what the number
  /// changes, to first order, if an edge carries what is added instead. The gradients are means
  /// over `steps` points of the straight line from the corrupt to the clean text's embeddings, in
  /// the middle of equal parts (EAP-IG); 0 steps: of the clean text (EAP, Syed et al. 2023).
  std::vector<float> scores(std::size_t steps) const;

  /// Returns the number of a run in which the edges of a circuit carry what it adds, and all others
  /// what is added instead.
  double number_with(const std::vector<bool>& kept) const;

 private:
  // Matrices by the index of a node or an input: [T, D] each.
  using Matrices = std::vector<std::vector<float>>;

  std::vector<float> logits_with(StreamCatcher& catcher, bool corrupt) const;
  double number(std::span<const float> logits) const;
  AnswerTerms terms(std::span<const float> logits) const;
  std::vector<float> stream_without(const CircuitInput& input) const;
  void catch_outputs(StreamCatcher& catcher) const;
  // Returns what each node adds in a run.
  Matrices outputs(const StreamCatcher& run) const;
  std::vector<float> output_of(std::size_t node, const CaughtRows& rows) const;
  // Adds the gradients of a run to those of the inputs.
  void add_gradients(float share, Matrices& gradients) const;

  const Stack& stack(bool encoder) const {
    return encoder ? *subject_.texts->encoder() : *subject_.texts->decoder();
  }
  std::size_t width() const { return subject_.texts->answering().config().d_model; }
  Session& session() const { return subject_.texts->session(); }
  const Attention& attention(const CircuitInput& input) const;
  const Norm& norm(const CircuitInput& input) const;
  // What a head computes from an input.
  FrozenProjection projection(const CircuitInput& input) const;
  // Returns the norm of what an input reads, [T, D].
  std::vector<float> normed(const CircuitInput& input, const std::vector<float>& stream) const;

  CircuitSubject subject_;
  CircuitMetric metric_;
  CircuitGraph graph_;
  StreamCatcher clean_run_, corrupt_run_;
  std::vector<float> clean_logits_;
  double clean_ = 0, corrupt_ = 0;
  Matrices clean_outputs_;              // by node
  Matrices instead_;                    // by node: what is added instead
  Matrices streams_;                    // that inputs read if nothing is kept
  std::vector<std::size_t> stream_of_;  // of each input
  mutable Matrices out_weights_;  // by node, of an attention's first head: its output projection
};

}  // namespace glassformer
