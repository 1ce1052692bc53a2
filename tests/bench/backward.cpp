// Measures the matrix products of learning: `backward_probe NxINxOUT...` prints {"build", "linear":
// {shape: rate}} in billions of operations per second, for the gradients of a linear layer from IN
// to OUT, with respect to its input and its weight, from N rows. Packing and transposing count as
// time. The rate is the best of many short runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "layers/linear/linear.hpp"
#include "run/run.hpp"
#include "run/tape.hpp"
#include "train/learned_parameters.hpp"

namespace {

using namespace glassformer;

struct Shape {
  std::size_t n, in, out;

  // Two products of the size of the forward one.
  double operations() const { return 4.0 * static_cast<double>(n * in * out); }
};

double rate(const Shape& shape) {
  using Clock = std::chrono::steady_clock;
  Linear layer(shape.in, shape.out, Compute::f32);
  std::vector<NamedParameter> named;
  layer.declare(ParameterScope(named, "layer"), Bias::present);
  for (const NamedParameter& parameter : named) {
    std::size_t count = 1;
    for (const std::size_t size : parameter.shape) count *= size;
    parameter.set(std::vector<float>(count, 0.25f), 0);
  }
  LearnedParameters learned(named);
  ParameterGradients gradients = learned.make_gradients();
  Session session;
  Run run(session);
  Tape tape(session.arena);
  run.record(tape);
  double best = 0;
  for (int i = 0; i < 60; ++i) {  // short, so that some runs are not interrupted
    tape.start(&gradients);
    const View x = run.make(shape.n, shape.in), y = run.make(shape.n, shape.out);
    std::fill_n(x.data(), x.size(), 0.5f);
    layer(const_view(x), y, run);
    tape.turn();
    std::fill_n(tape.gradient(y.data()), y.size(), 0.5f);
    const auto start = Clock::now();
    tape.rewind();
    const std::chrono::duration<double> time = Clock::now() - start;
    best = std::max(best, shape.operations() / time.count() * 1e-9);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("{\"build\": \"%s\", \"linear\": {", kernels().name.data());
  for (int i = 1; i < argc; ++i) {
    Shape shape = {};
    if (std::sscanf(argv[i], "%zux%zux%zu", &shape.n, &shape.in, &shape.out) != 3) return 2;
    std::printf("%s\"%s\": %.1f", i == 1 ? "" : ", ", argv[i], rate(shape));
  }
  std::printf("}}\n");
}
