#include "layers/linear.hpp"

#include <algorithm>

namespace glassformer {
namespace {

MatmulArgs product(const ConstView<2>& x, const PackedMatrix& weight, View<2>& y) {
  expect_shape("x of a linear layer", x, {x.shape(0), weight.k()});
  expect_shape("y of a linear layer", y, {x.shape(0), weight.n()});
  return {.a = x.data(),
          .a_stride = weight.k(),
          .b = weight.data(),
          .panel_stride = weight.panel_stride(),
          .c = y.data(),
          .c_stride = weight.n(),
          .m = x.shape(0),
          .n = weight.n(),
          .k = weight.k()};
}

}  // namespace

void Linear::declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
                     Bias bias) {
  scope.declare("weight", {outputs, in()}, [this, first, outputs](std::span<const float> values) {
    for (std::size_t i = 0; i < outputs; ++i) {
      weight_.set_column(first + i, values.subspan(i * in(), in()));
    }
  });
  if (bias == Bias::present) declare_bias(scope, first, outputs);
}

void Linear::declare_bias(const ParameterScope& scope, std::size_t first, std::size_t outputs) {
  scope.declare("bias", {outputs}, [this, first](std::span<const float> values) {
    std::copy(values.begin(), values.end(), bias_.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

void Linear::operator()(const ConstView<2>& x, View<2> y, Epilogue epilogue) const {
  MatmulArgs args = product(x, weight_, y);
  args.bias = bias_.data();
  args.epilogue = epilogue;
  kernels().matmul(args);
}

void Linear::multiply(const ConstView<2>& x, View<2> y) const {
  kernels().matmul(product(x, weight_, y));
}

}  // namespace glassformer
