#pragma once

#include <memory>

#include "layers/linear/linear.hpp"
#include "layers/norm/norm.hpp"
#include "layers/pooling/pooling.hpp"
#include "models/config.hpp"

namespace glassformer {

/// The part of a model after its encoder: the box "Linear" of "Attention Is All You Need", figure
/// 1, for outputs other than the next token.
class Head {
 public:
  virtual ~Head() = default;

  /// Declares its parameters among the model's own.
  virtual void declare(const ParameterScope& root) = 0;

  /// Returns the logits for the encoder's states [N, D]: [B, C], or [N, C] if the head has an
  /// output per token. They are valid until the end of the caller's Arena::Scope. Traces `logits`
  /// and the tensors before them.
  virtual View operator()(const ConstView& states, const Run& run) const = 0;

  /// Returns the contribution of each token's state to each logit, [N, C], if the head is linear: a
  /// sequence's rows and the bias sum to its logits. Throws `unsupported` if it is not linear.
  virtual Tensor contributions(const ConstView& states, const Run& run) const;

  /// Returns the layer whose weight is also the embedding table. May be null.
  virtual const Linear* tied() const { return nullptr; }
};

/// A layer [O, D] with an activation and, in some models, a norm, before the logits. Kept in f32:
/// it is small and the result is sensitive to it.
class DenseLayer {
 public:
  DenseLayer(const HeadDense& config, const StackConfig& stack, std::size_t out);

  /// Declares `dense` [O, D] and, with a norm, `layer_norm`.
  void declare(const ParameterScope& scope);

  /// Computes y [n, O] from x [n, D]. Traces `head.dense`, after the activation, and
  /// `head.layer_norm`.
  void operator()(const ConstView& x, View y, RowsOf of, const Run& run) const;

  const Linear& linear() const { return linear_; }
  const Norm* norm() const { return norm_.get(); }  ///< may be null
  Activation activation() const { return config_.activation; }

 private:
  HeadDense config_;
  Linear linear_;               // [O, D]
  std::unique_ptr<Norm> norm_;  // may be null
};

/// Computes one vector per sequence, and from it the logits of the classes. Some models have a
/// dense layer in between (the pooler of Devlin et al. 2019). Kept in f32, like DenseLayer.
class SequenceHead final : public Head {
 public:
  /// `width`: O of the dense layer, if there is one; otherwise D.
  SequenceHead(const HeadConfig& config, const StackConfig& stack, std::size_t width);

  /// Declares the dense layer, if there is one, `classifier` [C, O] and, if the model is distilled,
  /// `distillation_classifier` [C, D].
  void declare(const ParameterScope& root) override;
  View operator()(const ConstView& states, const Run& run) const override;
  Tensor contributions(const ConstView& states, const Run& run) const override;

  /// Weighs the rows that the answer is computed from.
  const SequencePooling& pooling() const {
    return distillation_ ? static_cast<const SequencePooling&>(distillation_->both) : *pooling_;
  }
  const DenseLayer* dense() const { return dense_.get(); }  ///< may be null
  const Linear& classifier() const { return classifier_; }

 private:
  // The second classifier of a distilled model, and the rows that it and both read.
  struct Distillation {
    Linear classifier;  // [D, C]
    OneTokenPooling second{1};
    FirstTwoPooling both = {};
  };

  HeadConfig config_;
  std::unique_ptr<SequencePooling> pooling_;
  std::unique_ptr<DenseLayer> dense_;           // may be null
  Linear classifier_;                           // [O, C]
  std::unique_ptr<Distillation> distillation_;  // may be null
};

/// Computes the logits of the classes for every token, or the two logits of a span.
class TokenHead final : public Head {
 public:
  TokenHead(const HeadConfig& config, const StackConfig& stack);

  /// Declares the dense layer, if there is one, and `classifier` [C, D] or `qa_outputs` [2, D].
  void declare(const ParameterScope& root) override;
  View operator()(const ConstView& states, const Run& run) const override;

 private:
  HeadConfig config_;
  std::unique_ptr<DenseLayer> dense_;  // may be null
  Linear classifier_;                  // [D, C]
};

/// Computes the logits of the tokens that may stand at each place: the head of a masked language
/// model (Devlin et al. 2019, section 3.1).
class MaskedTokenHead final : public Head {
 public:
  MaskedTokenHead(const Architecture& architecture, Compute compute);

  /// Declares `lm_head`: the dense layer, and the weight [V, E], unless that is the embedding
  /// table, and its bias.
  void declare(const ParameterScope& root) override;
  View operator()(const ConstView& states, const Run& run) const override;
  const Linear* tied() const override { return tied_ ? &lm_head_ : nullptr; }

 private:
  HeadConfig config_;
  bool tied_;
  std::unique_ptr<DenseLayer> dense_;  // may be null
  Linear lm_head_;                     // [E, V]
};

/// Creates the head of a model with an encoder only. Returns null for a head that leaves the states
/// unchanged.
std::unique_ptr<Head> make_head(const Architecture& architecture, Compute compute);

}  // namespace glassformer
