#include <algorithm>

#include "kernels/learning.hpp"
#include "layers/linear/linear.hpp"

namespace glassformer {
namespace {

// Rows that enter the gradient of a weight together: as few as keep their packed copies in the
// second-level cache.
constexpr std::size_t block = 256;

// gradient of x += gradient of y · W
void add_gradient_of_input(const Linear& layer, const ConstView& x, const ConstView& of_y,
                           Tape& tape) {
  const std::size_t in = layer.in(), out = layer.out();
  const AlignedBuffer& weight = layer.weight_parameter().value;
  PackedMatrix& packed = tape.packed;  // [out, in]
  packed.reshape(out, in);
  std::vector<float> row(in);
  for (std::size_t output = 0; output < out; ++output) {
    if (weight.empty()) {
      layer.copy_output(output, row);
      packed.set_row(output, row);
    } else {
      packed.set_row(output, std::span(weight).subspan(output * in, in));
    }
  }
  kernels().matmul({.a = of_y.data(),
                    .a_stride = out,
                    .b = packed.data(),
                    .panel_stride = packed.panel_stride(),
                    .c = tape.gradient(x.data()),
                    .c_stride = in,
                    .m = x.shape(0),
                    .n = in,
                    .k = out,
                    .epilogue = Epilogue::accumulate});
}

// gradient of W += (gradient of y)ᵀ · x
void add_gradient_of_weight(float* gradient, const ConstView& x, const ConstView& of_y,
                            Tape& tape) {
  const std::size_t in = x.shape(1), out = of_y.shape(1);
  float* const transposed = tape.reserve(out * block);
  PackedMatrix& packed = tape.packed;  // [count, in]
  for (std::size_t first = 0; first < x.shape(0); first += block) {
    const std::size_t count = std::min(block, x.shape(0) - first);
    learning_kernels().transpose(of_y.data() + first * out, out, count, out, transposed, block);
    packed.reshape(count, in);
    for (std::size_t i = 0; i < count; ++i) packed.set_row(i, {&x(first + i, 0), in});
    kernels().matmul({.a = transposed,
                      .a_stride = block,
                      .b = packed.data(),
                      .panel_stride = packed.panel_stride(),
                      .c = gradient,
                      .c_stride = in,
                      .m = out,
                      .n = in,
                      .k = count,
                      .epilogue = Epilogue::accumulate});
  }
}

}  // namespace

void linear_backward(const Linear& layer, const ConstView& x, const ConstView& y, Tape& tape) {
  const std::size_t n = x.shape(0);
  if (n == 0) return;
  const ConstView of_y = const_view(tape.gradient(y));
  add_gradient_of_input(layer, x, of_y, tape);
  if (float* const gradient = tape.gradient(layer.weight_parameter())) {
    add_gradient_of_weight(gradient, x, of_y, tape);
  }
  if (float* const gradient = tape.gradient(layer.bias_parameter())) {
    learning_kernels().add_rows(of_y.data(), layer.out(), n, layer.out(), gradient);
  }
}

}  // namespace glassformer
