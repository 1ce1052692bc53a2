#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/compute.hpp"
#include "kernels/kernels.hpp"
#include "run/run.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

enum class Bias { none, present };
inline Bias bias_if(bool present) { return present ? Bias::present : Bias::none; }

/// The weight W [out, in] of a linear layer, packed for the machine's matrix product.
class LinearWeight {
 public:
  virtual ~LinearWeight() = default;

  virtual std::size_t in() const = 0;
  virtual std::size_t out() const = 0;
  /// Declares `weight` [outputs, in] as outputs `first` … `storage` [out, in] holds the values
  /// while they are learned.
  virtual void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
                       Parameter& storage) = 0;
  /// The product x [n, in] · Wᵀ + bias, stored in or added to y [n, out]. `bias` may be null.
  /// `activation` is for a product that is stored.
  virtual void multiply(const ConstView& x, const float* bias, Epilogue epilogue,
                        Activation activation, View y, Session& session) const = 0;
  /// weights [in] = the weights of one output.
  virtual void copy_output(std::size_t output, std::span<float> weights) const = 0;
  /// Returns the weights of only these outputs, in this order.
  virtual std::unique_ptr<LinearWeight> select(std::span<const std::int32_t> outputs) const = 0;
};

/// y = x · Wᵀ + b. Weights and bias allocate memory when they are set. Both must be set before use.
class Linear {
 public:
  Linear(std::size_t in, std::size_t out, Compute compute);
  Linear(const Linear&) = delete;  // others may point to this object
  Linear& operator=(const Linear&) = delete;

  /// Declares `weight` [outputs, in] and, with a bias, `bias` [outputs] as outputs `first` … of
  /// this layer. Several names may share one layer, each with its own outputs.
  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs, Bias bias);
  /// Declares a layer with one name.
  void declare(const ParameterScope& scope, Bias bias) { declare(scope, 0, out(), bias); }
  /// Declares the weight and the bias under separate names.
  void declare_weight(const ParameterScope& scope) { declare(scope, 0, out(), Bias::none); }
  void declare_bias(const ParameterScope& scope) { declare_bias(scope, 0, out()); }

  std::size_t in() const { return weight_->in(); }
  std::size_t out() const { return weight_->out(); }

  /// Computes y [n, out] from x [n, in]. With Epilogue::accumulate, y += the product.
  void operator()(const ConstView& x, View y, const Run& run,
                  Epilogue epilogue = Epilogue::store) const;
  void operator()(const ConstView& x, View y, Session& session,
                  Epilogue epilogue = Epilogue::store) const;
  /// Computes y = activation(x · Wᵀ + b).
  void operator()(const ConstView& x, View y, const Run& run, Activation activation) const;

  /// Adds this layer's output for x [n, in] to sum [n, out]. `x` holds rows `first` … of the run.
  /// The output is traced as `name`.
  void add_to(View sum, const ConstView& x, const Run& run, std::string_view name,
              std::size_t first = 0) const;

  /// Computes the product without the bias.
  void multiply(const ConstView& x, View y, Session& session) const;

  /// weights [in] = the weights of one output.
  void copy_output(std::size_t output, std::span<float> weights) const {
    weight_->copy_output(output, weights);
  }

  /// Returns the bias [out], or an empty span without a bias.
  std::span<const float> bias() const {
    return std::span<const float>(bias_.value).first(bias_.value.empty() ? 0 : out());
  }

  /// The weight and the bias while they are learned.
  const Parameter& weight_parameter() const { return storage_; }
  const Parameter& bias_parameter() const { return bias_; }

  /// Returns a layer with only these outputs, in this order, and a copy of their weights.
  Linear select(std::span<const std::int32_t> outputs) const;

 private:
  Linear(std::unique_ptr<LinearWeight> weight, AlignedBuffer bias);
  void declare_bias(const ParameterScope& scope, std::size_t first, std::size_t outputs);
  void multiply(const ConstView& x, const float* bias, Epilogue epilogue, Activation activation,
                View y, Session& session) const;
  const float* bias_or_null() const { return bias_.value.empty() ? nullptr : bias_.value.data(); }

  std::unique_ptr<LinearWeight> weight_;
  Parameter storage_;  // [out, in], the weight while it is learned
  Parameter bias_;     // [out], padded to whole panels; empty if there is no bias
};

/// Adds the gradients of x, of the weight and of the bias, from that of y, where y is x · Wᵀ + b or
/// the sum that it was added to.
void linear_backward(const Linear& layer, const ConstView& x, const ConstView& y, Tape& tape);

}  // namespace glassformer
