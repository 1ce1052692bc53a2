#include "layers/attention/recurrent_unit.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "layers/attention/linked_mixers.hpp"

namespace glassformer {

void RecurrentUnit::declare(const ParameterScope& scope) {
  projections_.declare(scope.scope("candidate_proj"), 0, d_model_, Bias::none);
  projections_.declare(scope.scope("gate_proj"), d_model_, d_model_, Bias::present);
}

void RecurrentUnit::add_to(View x, const ConstView& input, const Run& run) const {
  const std::size_t n = x.shape(0);
  const Arena::Scope scope(run.arena());
  View both = run.make(n, 2 * d_model_);
  View output = run.make(n, d_model_);
  projections_(input, both, run);
  for (std::size_t i = 0; i < n; ++i) {
    float* const gate = &both(i, d_model_);  // σ(x) = (1 + tanh(x / 2)) / 2
    kernels().scale(gate, gate, d_model_, 0.5f);
    kernels().activate(Activation::tanh, gate, d_model_);
    std::transform(gate, gate + d_model_, gate, [](float t) { return 0.5f + 0.5f * t; });
  }
  const auto trace = [&](const char* name, float* data, std::size_t first, std::size_t count,
                         std::size_t stride) {
    run.done(name,
             {.data = data, .first = first, .count = count, .columns = d_model_, .stride = stride});
  };
  trace("candidate", both.data(), 0, n, 2 * d_model_);
  trace("gate", both.data() + d_model_, 0, n, 2 * d_model_);
  View states = run.cache->own;  // [R, D]
  if (n == 0)
    trace("state", states.data(), 0, 0, d_model_);  // a pass over no rows lists the tensors' names
  for (std::size_t i = 0; i < n; ++i) {
    // The previous state of a row may be from a row of the same step.
    const std::span<const std::uint32_t> path = run.segments[i].keys;
    const float* const before =
        path.size() > 1 ? run.cache->rows + path[path.size() - 2] * d_model_ : nullptr;
    const float *const candidate = &both(i, 0), *const gate = candidate + d_model_;
    float* const state = &states(i, 0);
    for (std::size_t c = 0; c < d_model_; ++c) {
      state[c] = candidate[c] + gate[c] * ((before ? before[c] : 0.0f) - candidate[c]);
    }
    trace("state", state, i, 1, d_model_);
    std::transform(state, state + d_model_, &output(i, 0),
                   [](float c) { return std::max(c, 0.0f); });
  }
  run.done("output", output);
  kernels().add_scaled(x.data(), output.data(), output.size(), 1.0f);
}

std::unique_ptr<TokenMixer> make_recurrent_unit(std::size_t d_model, Compute compute) {
  return std::make_unique<RecurrentUnit>(d_model, compute);
}

}  // namespace glassformer
