#pragma once

#include <cstddef>
#include <memory>

#include "run/run.hpp"
#include "run/sequences.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Computes one vector per sequence: a weighted sum of its tokens' vectors.
class SequencePooling {
 public:
  virtual ~SequencePooling() = default;

  /// Writes the weight of each token of sequence i to `weights` [length].
  virtual void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const = 0;

  /// pooled [B, D] = the weighted sums of x [N, D].
  void operator()(const ConstView& x, const Sequences& sequences, View pooled,
                  const Run& run) const;
};

/// The mean over the tokens from number `first` on that are not masked or, if there are none, over
/// all that are not masked. Sequences have no padding.
class MeanPooling final : public SequencePooling {
 public:
  explicit MeanPooling(std::size_t first) : first_(first) {}
  void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const override;

 private:
  std::size_t first_;
};

/// Only one token: the first (for example [CLS]) is number 0, the second (the distillation token)
/// number 1. If the sequence has fewer tokens, its last one.
class OneTokenPooling final : public SequencePooling {
 public:
  static constexpr std::size_t last = static_cast<std::size_t>(-1);

  explicit OneTokenPooling(std::size_t number) : number_(number) {}
  void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const override;

 private:
  std::size_t number_;
};

/// Half of the first token and half of the second.
class FirstTwoPooling final : public SequencePooling {
 public:
  void weigh(const Sequences& sequences, std::size_t i, std::span<float> weights) const override;
};

/// gradient of each row of x += its weight · the gradient of its sequence's row of `pooled`.
void pooling_backward(const SequencePooling& pooling, const ConstView& x,
                      const Sequences& sequences, const ConstView& pooled, Tape& tape);

/// `patches`: the mean of all rows but the first, that of the class token.
enum class Pooling { mean, first, last, patches };

std::unique_ptr<SequencePooling> make_pooling(Pooling pooling);

}  // namespace glassformer
