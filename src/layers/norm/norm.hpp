#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/kernels.hpp"
#include "layers/norm/config.hpp"
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
  /// Normalizes `count` rows of D numbers in place.
  void apply(float* rows, std::size_t count) const;

  /// The learned scale, [D].
  std::span<const float> weight() const { return weight_.value; }
  /// The learned shift, [D], or null.
  virtual const float* bias() const { return nullptr; }

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

 protected:
  void normalize(const NormArgs& args) const override;
};

/// (x - mean) / (s + eps), s the standard deviation over n - 1: the variant in tutorials that call
/// torch.std.
class UnbiasedLayerNorm final : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;

 protected:
  void normalize(const NormArgs& args) const override;
};

/// x / sqrt(mean of x² + eps), without a shift: Zhang and Sennrich 2019, equation 4.
class RmsNorm final : public Norm {
 public:
  using Norm::Norm;

 protected:
  void normalize(const NormArgs& args) const override;
};

std::unique_ptr<Norm> make_norm(const NormConfig& config, std::size_t d_model);

}  // namespace glassformer
