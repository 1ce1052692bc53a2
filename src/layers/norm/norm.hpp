#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/kernels.hpp"
#include "tensor/tensor.hpp"
#include "weights/loader.hpp"

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
  void operator()(const ConstView<2>& x, View<2> y) const;

  /// The learned scale, [D].
  std::span<const float> weight() const { return weight_; }
  /// What is added behind the scaling, [D]; null: nothing is.
  virtual const float* bias() const { return nullptr; }

 protected:
  virtual void normalize(const NormArgs& args) const = 0;

  std::size_t d_model() const { return d_model_; }

 private:
  std::size_t d_model_;
  AlignedBuffer weight_;  // [D], empty until it is set
  float eps_;
};

/// A norm that makes each row's mean 0 and its spread 1, and shifts it by a second learned vector.
class LayerNorm : public Norm {
 public:
  using Norm::Norm;
  /// Declares `weight` [D] and `bias` [D].
  void declare(const ParameterScope& scope) override;
  const float* bias() const override;

 private:
  AlignedBuffer bias_;  // [D], empty until it is set
};

/// (x - mean) / sqrt(variance + eps): Ba et al. 2016, PyTorch's nn.LayerNorm.
class StandardLayerNorm final : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;

 protected:
  void normalize(const NormArgs& args) const override;
};

/// (x - mean) / (s + eps), s the standard deviation over n - 1: the variant that tutorials which
/// call torch.std build.
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

/// unbiased: standard deviation over n - 1, eps added to it outside the root.
enum class NormKind { standard, unbiased, rms };

std::unique_ptr<Norm> make_norm(NormKind kind, std::size_t d_model, float eps);

}  // namespace glassformer
