#include "layers/linear.hpp"

#include <algorithm>

#include "kernels/packed_int8_matrix.hpp"
#include "kernels/packed_matrix.hpp"

namespace glassformer {
namespace {

template <typename Matrix>
class PackedWeight : public LinearWeight {
 public:
  PackedWeight(std::size_t in, std::size_t out) : matrix_(in, out) {}
  explicit PackedWeight(Matrix matrix) : matrix_(std::move(matrix)) {}

  std::size_t in() const override { return matrix_.k(); }
  std::size_t out() const override { return matrix_.n(); }
  std::size_t padded_out() const override { return matrix_.padded_n(); }

  void copy_output(std::size_t output, std::span<float> weights) const override {
    matrix_.copy_column(output, weights);
  }

 protected:
  Matrix matrix_;  // [in, out]
};

class FloatWeight final : public PackedWeight<PackedMatrix> {
 public:
  using PackedWeight::PackedWeight;

  std::unique_ptr<LinearWeight> select(std::span<const std::int32_t> outputs) const override {
    return std::make_unique<FloatWeight>(matrix_.select(outputs));
  }

  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs) override {
    scope.declare("weight", {outputs, in()}, [this, first, outputs](std::span<const float> values) {
      for (std::size_t i = 0; i < outputs; ++i) {
        matrix_.set_column(first + i, values.subspan(i * in(), in()));
      }
    });
  }

  void multiply(const ConstView<2>& x, const float* bias, Epilogue epilogue, View<2> y,
                Workspace&) const override {
    kernels().matmul({.a = x.data(),
                      .a_stride = in(),
                      .b = matrix_.data(),
                      .panel_stride = matrix_.panel_stride(),
                      .bias = bias,
                      .c = y.data(),
                      .c_stride = out(),
                      .m = x.shape(0),
                      .n = out(),
                      .k = in(),
                      .epilogue = epilogue});
  }
};

class Int8Weight final : public PackedWeight<PackedInt8Matrix> {
 public:
  using PackedWeight::PackedWeight;

  std::unique_ptr<LinearWeight> select(std::span<const std::int32_t> outputs) const override {
    return std::make_unique<Int8Weight>(matrix_.select(outputs));
  }

  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs) override {
    scope.declare_int8(
        "weight", {outputs, in()},
        [this, first, outputs](std::span<const std::int8_t> values, std::span<const float> scales) {
          for (std::size_t i = 0; i < outputs; ++i) {
            matrix_.set_column(first + i, values.subspan(i * in(), in()), scales[i]);
          }
        });
  }

  // A block of rows at a time, so that its integers are still in the cache when they are
  // multiplied.
  void multiply(const ConstView<2>& x, const float* bias, Epilogue epilogue, View<2> y,
                Workspace& workspace) const override {
    const Kernels& run = kernels();
    const QuantisedRows integers = workspace.quantised_rows(in());
    const std::size_t n = x.shape(0);
    for (std::size_t first = 0; first < n; first += Workspace::quantised_block) {
      const std::size_t count = std::min(Workspace::quantised_block, n - first);
      run.quantise(x.data() + first * in(), count, in(), integers);
      run.matmul_int8({.a = integers,
                       .b = matrix_.data(),
                       .panel_stride = matrix_.panel_stride(),
                       .scales = matrix_.scales(),
                       .sums = matrix_.sums(),
                       .bias = bias,
                       .c = y.data() + first * out(),
                       .c_stride = out(),
                       .m = count,
                       .n = out(),
                       .k = in(),
                       .epilogue = epilogue});
    }
  }
};

std::unique_ptr<LinearWeight> make_weight(std::size_t in, std::size_t out, Compute compute) {
  if (compute == Compute::int8) return std::make_unique<Int8Weight>(in, out);
  return std::make_unique<FloatWeight>(in, out);
}

}  // namespace

Linear::Linear(std::size_t in, std::size_t out, Compute compute)
    : Linear(make_weight(in, out, compute)) {}

Linear::Linear(std::unique_ptr<LinearWeight> weight)
    : weight_(std::move(weight)), bias_(weight_->padded_out(), 0.0f) {}

Linear Linear::select(std::span<const std::int32_t> outputs) const {
  Linear selected(weight_->select(outputs));
  std::transform(outputs.begin(), outputs.end(), selected.bias_.begin(),
                 [this](std::int32_t output) { return bias_[static_cast<std::size_t>(output)]; });
  return selected;
}

void Linear::declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
                     Bias bias) {
  weight_->declare(scope, first, outputs);
  if (bias == Bias::present) declare_bias(scope, first, outputs);
}

void Linear::declare_bias(const ParameterScope& scope, std::size_t first, std::size_t outputs) {
  scope.declare("bias", {outputs}, [this, first](std::span<const float> values) {
    std::copy(values.begin(), values.end(), bias_.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

void Linear::operator()(const ConstView<2>& x, View<2> y, Workspace& workspace,
                        Epilogue epilogue) const {
  multiply(x, bias_.data(), epilogue, y, workspace);
}

void Linear::multiply(const ConstView<2>& x, View<2> y, Workspace& workspace) const {
  multiply(x, nullptr, Epilogue::store, y, workspace);
}

void Linear::multiply(const ConstView<2>& x, const float* bias, Epilogue epilogue, View<2> y,
                      Workspace& workspace) const {
  expect_shape("x of a linear layer", x, {x.shape(0), in()});
  expect_shape("y of a linear layer", y, {x.shape(0), out()});
  weight_->multiply(x, bias, epilogue, y, workspace);
}

}  // namespace glassformer
