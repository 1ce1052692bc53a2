#pragma once

#include "explain/explained_text.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// Value zeroing (Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers"). In one layer
/// after the other, the value vectors of one token become zero in all heads: the score of token j
/// for token i is 1 - cos(i's output of the layer, the same with j's zeros). Each row is divided by
/// its sum; a row of zeros becomes that of the identity. The layers are multiplied without adding
/// the identity as rollout does, because outputs contain the residual connection.
class ValueZeroing {
 public:
  /// `stream`: of a run on the text. Throws `unsupported` for a model in integers, whose values
  /// cannot be replaced. The model must outlive this.
  ValueZeroing(const EncoderRunner& model, const ExplainedText& text, Stream stream);

  /// Zeroes some tokens of a layer, which run side by side, together up to `tokens` of them but at
  /// least one. Returns false when all layers are done.
  bool step(std::size_t tokens = 512);

  /// Returns all but the scores.
  ZeroedValues take();

 private:
  // Fills column `first` … of a layer with the changes.
  void zero(std::size_t first, std::size_t count);

  EncoderRunner model_;
  std::vector<std::size_t> positions_;  // of the text, or empty
  Stream stream_;
  std::size_t layer_ = 0, next_ = 0;
  AttentionMap changes_;
};

}  // namespace glassformer
