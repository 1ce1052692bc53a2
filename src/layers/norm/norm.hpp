#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/kernels.hpp"
#include "layers/norm/config.hpp"
#include "run/run.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// Normalizes each row of x [n, D], then scales it by a learned vector [D].
class Norm {
 public:
  Norm(std::size_t d_model, float eps) : d_model_(d_model), eps_(eps) {}
  Norm(const Norm&) = delete;
  Norm& operator=(const Norm&) = delete;
  virtual ~Norm() = default;

  /// Declares `weight` [D].
  virtual void declare(const ParameterScope& scope);

  /// y = norm(x), both [n, D]; y may be x.
  void operator()(const ConstView& x, View y) const;
  void operator()(const ConstView& x, View y, const Run& run) const;
  /// Normalizes each of `heads` parts of D numbers of n rows in place. Rows are `stride` floats
  /// apart.
  void apply(float* rows, std::size_t n, std::size_t stride, std::size_t heads,
             const Run& run) const;

  /// The learned scale, [D].
  std::span<const float> weight() const { return weight_.value; }
  /// The learned shift, [D], or null.
  virtual const float* bias() const { return nullptr; }

  virtual NormKind kind() const = 0;
  float eps() const { return eps_; }
  const Parameter& weight_parameter() const { return weight_; }
  /// Null if it has no shift.
  virtual const Parameter* bias_parameter() const { return nullptr; }

 protected:
  virtual void normalize(const NormArgs& args) const = 0;
  std::size_t d_model() const { return d_model_; }

 private:
  void normalize(const float* x, float* y, std::size_t rows) const;

  std::size_t d_model_;
  float eps_;
  Parameter weight_;
};

/// A norm that gives each row the mean 0 and the spread 1, with a learned scale and an optional
/// learned shift.
class LayerNorm : public Norm {
 public:
  LayerNorm(std::size_t d_model, const NormConfig& config);

  /// Declares `weight` [D] and, with a bias, `bias` [D].
  void declare(const ParameterScope& scope) override;
  const float* bias() const override;
  const Parameter* bias_parameter() const override { return biased_ ? &bias_ : nullptr; }

 protected:
  /// Returns the bias, or zeros without a bias.
  const float* shift() const;

 private:
  bool biased_;
  Parameter bias_;  // its value is zeros if there is no bias
};

/// (x - mean) / sqrt(variance + eps): Ba et al. 2016, PyTorch's nn.LayerNorm.
class StandardLayerNorm final : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;
  NormKind kind() const override { return NormKind::standard; }

 protected:
  void normalize(const NormArgs& args) const override;
};

/// (x - mean) / (s + eps), s the standard deviation over n - 1: the variant in tutorials that call
/// torch.std.
class UnbiasedLayerNorm final : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;
  NormKind kind() const override { return NormKind::unbiased; }

 protected:
  void normalize(const NormArgs& args) const override;
};

/// x / sqrt(mean of x² + eps), without a shift: Zhang and Sennrich 2019, equation 4.
class RmsNorm final : public Norm {
 public:
  using Norm::Norm;
  NormKind kind() const override { return NormKind::rms; }

 protected:
  void normalize(const NormArgs& args) const override;
};

/// Adds the gradient of x [n, D], and those of the norm's parameters, from that of y = norm(x). If
/// y has replaced x, so does its gradient. `kept`: the values of x.
void norm_backward(const Norm& norm, const ConstView& kept, const ConstView& x, const ConstView& y,
                   Tape& tape);

/// Replaces the gradients of rows [rows, D] of y = norm(x) by those of x.
void norm_gradient(const Norm& norm, const float* x, std::size_t rows, float* gradient);

/// The same for one row [D] of x, with the row's mean and spread taken as constants ("frozen"):
/// replaces the gradient `a` of y by that of x, (γ ⊙ a - mean(γ ⊙ a)) / spread; RmsNorm: without
/// the mean. The result times x, plus β · a, is y · a exactly.
void frozen_norm_backward(const Norm& norm, const float* x, std::span<float> a);

std::unique_ptr<Norm> make_norm(const NormConfig& config, std::size_t d_model);

}  // namespace glassformer
