#pragma once

#include <memory>

#include "layers/linear/linear.hpp"
#include "layers/pooling/pooling.hpp"
#include "models/architecture.hpp"

namespace glassformer {

/// What stands on an encoder: the box "Linear" of "Attention Is All You Need", figure 1, for other
/// questions than the next token.
class Head {
 public:
  virtual ~Head() = default;

  /// Declares its parameters among the model's own.
  virtual void declare(const ParameterScope& root) = 0;

  /// Logits of the encoder's states [N, D]: [B, C], or [N, C] of a head that answers for every
  /// token. Shows `logits` and what comes before them.
  virtual Tensor<2> operator()(const ConstView<2>& states, const Run& run) const = 0;

  /// What each token's state adds to each logit, [N, C], where the head is linear: a sequence's
  /// rows and the bias sum to its logits. Throws `unsupported` where it is not.
  virtual Tensor<2> contributions(const ConstView<2>& states, const Run& run) const;
};

/// One vector a sequence, and of that a logit for each class; of some models through a dense layer
/// (the pooler of Devlin et al. 2019). Linear layers of floats: they are small, and the answer
/// hangs on them.
class SequenceHead final : public Head {
 public:
  SequenceHead(const HeadConfig& config, std::size_t d_model);

  /// Declares `head.dense` [D, D], where there is one, and `classifier` [C, D].
  void declare(const ParameterScope& root) override;
  Tensor<2> operator()(const ConstView<2>& states, const Run& run) const override;
  Tensor<2> contributions(const ConstView<2>& states, const Run& run) const override;

  const SequencePooling& pooling() const { return *pooling_; }
  const Linear* dense() const { return dense_.get(); }  ///< [D, D]; null: there is none
  const Linear& classifier() const { return classifier_; }

 private:
  HeadConfig config_;
  std::unique_ptr<SequencePooling> pooling_;
  std::unique_ptr<Linear> dense_;  // [D, D]; null: none
  Linear classifier_;              // [D, C]
};

/// A logit for each class of every token; or the two of a span.
class TokenHead final : public Head {
 public:
  TokenHead(const HeadConfig& config, std::size_t d_model);

  /// Declares `classifier` [C, D], or `qa_outputs` [2, D].
  void declare(const ParameterScope& root) override;
  Tensor<2> operator()(const ConstView<2>& states, const Run& run) const override;

 private:
  HeadConfig config_;
  Linear classifier_;  // [D, C]
};

/// Null for a head that leaves the states as they are.
std::unique_ptr<Head> make_head(const HeadConfig& config, std::size_t d_model);

}  // namespace glassformer
