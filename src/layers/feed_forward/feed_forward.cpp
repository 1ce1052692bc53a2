#include "layers/feed_forward/feed_forward.hpp"

#include <algorithm>

#include "layers/elementwise/elementwise.hpp"

namespace glassformer {
namespace {

constexpr std::size_t least_gated = 4096;  // elements that are worth a thread

}  // namespace

void FeedForward::declare(const ParameterScope& scope) {
  fc2_.declare(scope.scope("fc2"), bias_if(config_.bias));
}

void FeedForward::add_to(View x, const ConstView& input, const Run& run) const {
  // Processes rows in blocks, so that the wide hidden rows stay in the cache between the two
  // products.
  const std::size_t n = x.shape(0);
  const Arena::Scope scope(run.arena());
  const std::size_t block = run.tape() ? std::max(n, std::size_t{1}) : block_rows;
  float* const buffer = run.arena().make_block(n, columns(), block).data();
  for (std::size_t first = 0; first == 0 || first < n; first += block) {
    const std::size_t count = std::min(block, n - first);
    View middle = hidden(  // [count, F]
        const_view(input.data() + first * d_model_, {count, d_model_}), buffer, run);
    run.done("fc1", middle, first);
    fc2_.add_to(rows(x, first, count), const_view(middle), run, "fc2", first);
  }
}

void PlainFeedForward::declare(const ParameterScope& scope) {
  fc1_.declare(scope.scope("fc1"), bias_if(config().bias));
  FeedForward::declare(scope);
}

View PlainFeedForward::hidden(const ConstView& input, float* buffer, const Run& run) const {
  View hidden = view(buffer, {input.shape(0), config().d_ff});
  fc1_(input, hidden, run, config().activation);
  return hidden;
}

void GatedFeedForward::declare(const ParameterScope& scope) {
  const std::size_t d_ff = config().d_ff;
  gate_and_fc1_.declare(scope.scope("fc1_gate"), 0, d_ff, bias_if(config().bias));
  gate_and_fc1_.declare(scope.scope("fc1"), d_ff, d_ff, bias_if(config().bias));
  FeedForward::declare(scope);
}

View GatedFeedForward::hidden(const ConstView& input, float* buffer, const Run& run) const {
  const std::size_t n = input.shape(0), d_ff = config().d_ff;
  View both = view(buffer, {n, 2 * d_ff});
  gate_and_fc1_(input, both, run);
  if (run.tape()) {  // which needs both parts later
    const View product = run.make(n, d_ff);
    gate(config().activation, both.data(), both.data() + d_ff, 2 * d_ff, product, run);
    return product;
  }
  const std::size_t least = std::max(least_gated / d_ff, std::size_t{1});
  run.session().pool.split(n, 1, least, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      float* const gate = &both(i, 0);
      kernels().activate(config().activation, gate, d_ff);
      kernels().multiply(gate, gate + d_ff, d_ff);
    }
  });
  // From here on, rows have F columns.
  for (std::size_t i = 1; i < n; ++i) std::copy_n(&both(i, 0), d_ff, both.data() + i * d_ff);
  return view(both.data(), {n, d_ff});
}

std::unique_ptr<FeedForward> make_feed_forward(const FeedForwardConfig& config, std::size_t d_model,
                                               Compute compute) {
  if (config.gated) return std::make_unique<GatedFeedForward>(config, d_model, compute);
  return std::make_unique<PlainFeedForward>(config, d_model, compute);
}

}  // namespace glassformer
