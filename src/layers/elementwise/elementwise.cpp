#include "layers/elementwise/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/learning.hpp"
#include "kernels/threaded.hpp"

namespace glassformer {
namespace {

// Multiplies a gradient by f'(x) or, for relevance, by f(x) / x, which near 0 is f'(x / 2).
void activate_backward(Activation activation, const float* x, float* gradient, std::size_t n,
                       BackwardRules rules) {
  if (rules == BackwardRules::gradients || activation == Activation::linear) {
    return learning_kernels().activate_backward(activation, x, gradient, n);
  }
  constexpr float near = 4e-3f;
  std::vector<float> active(x, x + n), slopes(n, 1.0f), halves(n);
  kernels().activate(activation, active.data(), n);
  kernels().scale(halves.data(), x, n, 0.5f);
  learning_kernels().activate_backward(activation, halves.data(), slopes.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    gradient[i] *= std::abs(x[i]) < near ? slopes[i] : active[i] / x[i];
  }
}

}  // namespace

void add(View sum, const ConstView& x, const Run& run) {
  kernels().add_scaled(sum.data(), x.data(), x.size(), 1.0f);
  if (!run.tape()) return;
  run.tape()->record([sum, x](Tape& tape) {
    kernels().add_scaled(tape.gradient(x).data(), tape.gradient(const_view(sum)).data(), x.size(),
                         1.0f);
  });
}

void set_to_zero(View x, const Run& run) {
  set_to_zero({x.data(), x.size()});
  if (!run.tape()) return;
  run.tape()->record([x](Tape& tape) { set_to_zero({tape.gradient(x.data()), x.size()}); });
}

void scale(const ConstView& x, float factor, View y, const Run& run) {
  kernels().scale(y.data(), x.data(), x.size(), factor);
  if (!run.tape()) return;
  run.tape()->record([x, factor, y](Tape& tape) {
    float* const of_y = tape.gradient(y.data());
    if (x.data() == y.data()) return kernels().scale(of_y, of_y, x.size(), factor);
    kernels().add_scaled(tape.gradient(x.data()), of_y, x.size(), factor);
  });
}

void cap(float most, View x, const Run& run) {
  scale(const_view(x), 1.0f / most, x, run);
  activate(Activation::tanh, x, run);
  scale(const_view(x), most, x, run);
}

void take_rows(const ConstView& x, std::span<const std::size_t> rows, View y, const Run& run) {
  const std::size_t columns = x.shape(1);
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy_n(&x(rows[i], 0), columns, &y(i, 0));
  if (!run.tape()) return;
  run.tape()->record([x, rows, y, columns](Tape& tape) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      kernels().add_scaled(tape.gradient(&x(rows[i], 0)), tape.gradient(&y(i, 0)), columns, 1.0f);
    }
  });
}

void activate(Activation activation, View x, const Run& run) {
  if (run.tape() && activation != Activation::linear) {
    const bool by_result = activation == Activation::relu;
    const ConstView before = by_result ? const_view(x) : run.tape()->keep(const_view(x));
    run.tape()->record([activation, before, x](Tape& tape) {
      activation_backward(activation, before, const_view(x), tape);
    });
  }
  activate(activation, x.data(), x.size(), run.session().pool);
}

void gate(Activation activation, const float* gates, const float* x, std::size_t stride, View y,
          const Run& run) {
  const std::size_t n = y.shape(0), columns = y.shape(1);
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = &y(i, 0);
    std::copy_n(gates + i * stride, columns, row);
    kernels().activate(activation, row, columns);
    kernels().multiply(row, x + i * stride, columns);
  }
  if (!run.tape()) return;
  run.tape()->record([=](Tape& tape) {
    std::vector<float> active(columns), part(columns);
    const float share = tape.rules == BackwardRules::attn_lrp ? 0.5f : 1.0f;  // of a factor
    for (std::size_t i = 0; i < n; ++i) {
      const float* const of_y = tape.gradient(&y(i, 0));
      const float *const before = gates + i * stride, *const factor = x + i * stride;
      std::copy_n(before, columns, active.data());
      kernels().activate(activation, active.data(), columns);
      kernels().multiply(active.data(), of_y, columns);
      kernels().add_scaled(tape.gradient(factor), active.data(), columns, share);
      if (tape.rules == BackwardRules::cp_lrp) continue;
      std::copy_n(of_y, columns, part.data());
      kernels().multiply(part.data(), factor, columns);
      activate_backward(activation, before, part.data(), columns, tape.rules);
      kernels().add_scaled(tape.gradient(before), part.data(), columns, share);
    }
  });
}

void activation_backward(Activation activation, const ConstView& x, const ConstView& result,
                         Tape& tape) {
  activate_backward(activation, x.data(), tape.gradient(result.data()), x.size(), tape.rules);
}

}  // namespace glassformer
