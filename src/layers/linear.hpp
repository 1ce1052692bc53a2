#pragma once

#include <cstddef>
#include <span>

#include "io/weights.hpp"
#include "kernels/kernels.hpp"
#include "kernels/packed_matrix.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

enum class Bias { none, present };

/// y = x · Wᵀ + b, with W [out, in] packed for the machine's matrix product when it is loaded.
class Linear {
 public:
  Linear(std::size_t in, std::size_t out) : weight_(in, out), bias_(weight_.padded_n(), 0.0f) {}
  Linear(const Linear&) = delete;  // its parameters hold its address
  Linear& operator=(const Linear&) = delete;

  /// Declares `weight` [outputs, in] and, with a bias, `bias` [outputs] as outputs `first` … of
  /// this layer. Several names may share one layer, each with its own outputs.
  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs, Bias bias);
  /// The same for a layer with one name.
  void declare(const ParameterScope& scope, Bias bias) { declare(scope, 0, out(), bias); }
  /// The same for a layer whose weight and bias have names of their own.
  void declare_weight(const ParameterScope& scope) { declare(scope, 0, out(), Bias::none); }
  void declare_bias(const ParameterScope& scope) { declare_bias(scope, 0, out()); }

  std::size_t in() const { return weight_.k(); }
  std::size_t out() const { return weight_.n(); }

  /// x [n, in] to y [n, out]; with Epilogue::accumulate, y += the product.
  void operator()(const ConstView<2>& x, View<2> y, Epilogue epilogue = Epilogue::store) const;

  /// The product without the bias.
  void multiply(const ConstView<2>& x, View<2> y) const;

  /// weights [in] = the weights of one output.
  void copy_weights(std::size_t output, std::span<float> weights) const {
    weight_.copy_column(output, weights);
  }

 private:
  void declare_bias(const ParameterScope& scope, std::size_t first, std::size_t outputs);

  PackedMatrix weight_;  // [in, out]
  AlignedBuffer bias_;   // [out], padded to whole panels
};

}  // namespace glassformer
