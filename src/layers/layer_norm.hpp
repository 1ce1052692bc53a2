#pragma once

#include <cstddef>

#include "io/weights.hpp"
#include "kernels/kernels.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Normalises each row of x [n, D] to mean 0 and spread 1, then scales and shifts it by two learned
/// vectors [D].
class LayerNorm {
 public:
  LayerNorm(std::size_t d_model, float eps) : d_model_(d_model), eps_(eps) {}
  LayerNorm(const LayerNorm&) = delete;
  LayerNorm& operator=(const LayerNorm&) = delete;
  virtual ~LayerNorm() = default;

  /// Declares `weight` [D] and `bias` [D].
  void declare(const ParameterScope& scope);

  /// y = norm(x), both [n, D]; y may be x.
  void operator()(const ConstView<2>& x, View<2> y) const;

 protected:
  virtual void normalise(const LayerNormArgs& args) const = 0;

 private:
  std::size_t d_model_;
  AlignedBuffer weight_, bias_;  // [D], empty until they are set
  float eps_;
};

/// (x - mean) / sqrt(variance + eps): Ba et al. 2016, PyTorch's nn.LayerNorm.
class StandardLayerNorm final : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;

 protected:
  void normalise(const LayerNormArgs& args) const override;
};

/// (x - mean) / (s + eps), s the standard deviation over n - 1: the variant that tutorials which
/// call torch.std build.
class UnbiasedLayerNorm final : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;

 protected:
  void normalise(const LayerNormArgs& args) const override;
};

}  // namespace glassformer
