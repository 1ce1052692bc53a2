#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/interventions/edges.hpp"
#include "explain/readings/value_norms.hpp"

namespace glassformer {

/// Searches for a few heads and edges that keep the verdict: with the weights of all others at 0,
/// the label is the same, and the explained number differs from its full value by at most 1 −
/// `least` of it, to either side: cutting what speaks against a verdict is no explanation of it.
/// The search is greedy, as in ACDC (Conmy et al. 2023, "Towards Automated Circuit Discovery"), so
/// a smaller circuit may exist. It first cuts heads, in the order of what the answer loses without
/// each one. Then it cuts edges of the remaining heads, in the order of ‖α f(x)‖: as many at once
/// as bisection allows, finally in small groups. Residual connections and feed-forward blocks stay.
class CircuitSearch {
 public:
  /// Runs the text once. Throws `unsupported` unless the head has one logit per class of a text,
  /// and the errors of expect_cuttable.
  CircuitSearch(const EncoderRunner& model, const ExplainedText& text, float least);

  /// Tries the next cuts. Returns whether any are left.
  bool step();

  Circuit circuit() const;

 private:
  enum class Phase { heads_alone, heads, bisection, chunks, done };

  // Returns the explained number with only these edges, or nothing if the label changes.
  std::optional<float> number_with(const EdgeSet& set);
  float share_of(float number) const;
  bool try_keep(const EdgeSet& set);
  void start_edges();
  EdgeSet without(std::size_t first, std::size_t count) const;

  EncoderRunner model_;
  Stream stream_;
  AttentionMap norms_;
  Contrast contrast_;
  float full_ = 0, kept_ = 0, nothing_ = 0, least_;
  Phase phase_ = Phase::heads_alone;
  EdgeSet kept_edges_;
  std::vector<std::pair<std::size_t, std::size_t>> heads_;  // layer and head, in order of the tries
  std::vector<float> losses_;
  std::vector<bool> head_kept_;       // per entry of heads_
  std::vector<AttentionEdge> order_;  // edges that may be cut, the weakest first
  std::size_t next_ = 0, low_ = 0, high_ = 0, chunk_ = 0;
};

}  // namespace glassformer
