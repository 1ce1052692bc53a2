#pragma once

#include <span>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// The edges that remain in an encoder's run on T tokens.
class EdgeSet {
 public:
  EdgeSet(const StackConfig& config, std::size_t tokens)
      : heads_(config.n_heads()),
        tokens_(tokens),
        there_(config.layers.size() * heads_ * tokens * tokens, true) {}

  bool has(const AttentionEdge& edge) const { return there_[index_of(edge)]; }
  void cut(const AttentionEdge& edge) { there_[index_of(edge)] = false; }
  void cut_head(std::size_t layer, std::size_t head);
  std::size_t size() const;

 private:
  std::size_t index_of(const AttentionEdge& edge) const {
    return ((edge.layer * heads_ + edge.head) * tokens_ + edge.query) * tokens_ + edge.key;
  }

  std::size_t heads_, tokens_;
  std::vector<bool> there_;
};

/// Throws `unsupported`, naming the method, for a model in integers, whose attention does not read
/// the tensors that a run could replace.
void expect_replaceable(Compute compute, const char* method);

/// Throws `unsupported` if the model's attention cannot be cut: if compute is not f32, and for
/// scores if attention is linear.
void expect_cuttable(const EncoderModel& model, Cut cut);

/// Returns the logits [sets, C] of one run per set. From block `first` on, only the edges of the
/// set remain; before it, all edges do. Throws the errors of expect_cuttable.
std::vector<float> logits_with(const EncoderRunner& model, const Stream& stream,
                               std::span<const EdgeSet* const> sets, Cut cut,
                               std::size_t first = 0);

/// Computes the effects of cutting edges. Throws the errors of expect_cuttable, and
/// `invalid_option` if an edge does not exist.
CutEffects cut_edges(const EncoderRunner& model, const Stream& stream,
                     std::span<const AttentionEdge> edges, Cut cut, const Contrast& contrast);

}  // namespace glassformer
