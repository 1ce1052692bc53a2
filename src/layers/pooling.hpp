#pragma once

#include <cstddef>

#include "layers/batch.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// One vector for a sequence: a weighted sum of its tokens' vectors.
class SequencePooling {
 public:
  virtual ~SequencePooling() = default;

  /// What each token of sequence i counts for. `weights` [length] is overwritten.
  virtual void weigh(const Batch& batch, std::size_t i, std::span<float> weights) const = 0;

  /// pooled [B, D] = the weighted sums of x [N, D].
  void operator()(const ConstView<2>& x, const Batch& batch, View<2> pooled) const;
};

/// The mean over the tokens that are not masked. Padding never counts, as there is none.
class MeanPooling final : public SequencePooling {
 public:
  void weigh(const Batch& batch, std::size_t i, std::span<float> weights) const override;
};

/// The first token alone (a [CLS] token, say).
class FirstTokenPooling final : public SequencePooling {
 public:
  void weigh(const Batch& batch, std::size_t i, std::span<float> weights) const override;
};

}  // namespace glassformer
