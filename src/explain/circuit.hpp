#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/edges.hpp"
#include "explain/value_norms.hpp"

namespace glassformer {

/// Looks for few heads and arrows that keep the verdict: with all others' weights 0 the label is
/// the same, and the number explained at least `least` of what it is with all. Greedy, as ACDC is
/// (Conmy et al. 2023, "Towards Automated Circuit Discovery"), so that there may be a smaller one:
/// first heads go, in the order of what the answer loses without each alone; then arrows of the
/// heads that stay, in the order of ‖α f(x)‖, as many at once as bisection allows, at last one by
/// one. Residual connections and feed-forward blocks stay.
class CircuitSearch {
 public:
  /// Runs the text once. Throws `unsupported` unless the head has a logit for each class of a text,
  /// and what expect_cuttable does.
  CircuitSearch(const EncoderRunner& model, const ExplainedText& text, float least);

  /// Tries the next cuts. Returns whether there are any left.
  bool step();

  Circuit circuit() const;

 private:
  enum class Phase { heads_alone, heads, bisection, chunks, done };

  // The number explained with these arrows alone; none where the label is another.
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
  std::vector<std::pair<std::size_t, std::size_t>> heads_;  // layer and head, in the order of tries
  std::vector<float> losses_;
  std::vector<bool> head_kept_;       // by layer and head
  std::vector<AttentionEdge> order_;  // arrows that may go, the weakest first
  std::size_t next_ = 0, low_ = 0, high_ = 0, chunk_ = 0;
};

}  // namespace glassformer
