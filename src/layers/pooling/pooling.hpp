#pragma once

#include <cstddef>
#include <memory>

#include "run/sequences.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// One vector for a sequence: a weighted sum of its tokens' vectors.
class SequencePooling {
 public:
  virtual ~SequencePooling() = default;

  /// What each token of sequence i counts for. `weights` [length] is overwritten.
  virtual void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const = 0;

  /// pooled [B, D] = the weighted sums of x [N, D].
  void operator()(const ConstView<2>& x, const Sequences& sequences, View<2> pooled) const;
};

/// The mean over the tokens that are not masked. Padding never counts, as there is none.
class MeanPooling final : public SequencePooling {
 public:
  void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const override;
};

/// The first token alone (a [CLS] token, say).
class FirstTokenPooling final : public SequencePooling {
 public:
  void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const override;
};

enum class Pooling { mean, first };

std::unique_ptr<SequencePooling> make_pooling(Pooling pooling);

}  // namespace glassformer
