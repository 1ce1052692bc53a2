#include "models/encoder.hpp"

#include <algorithm>

namespace glassformer {

View<2> Encoder::operator()(const Batch& batch, const Run& run) const {
  const Run::Scope scope = run.scope("encoder");
  run.workspace.reserve(batch.tokens(), batch.longest());
  View<2> x = rows(run.workspace.states, 0, batch.tokens());  // [N, D]
  stack_.embed(batch, x, run);
  return run_blocks(0, x, run);
}

View<2> Encoder::resume(std::size_t first, const ConstView<2>& states, const Run& run) const {
  const Run::Scope scope = run.scope("encoder");
  run.workspace.reserve(run.sequences->tokens(), run.sequences->longest());
  expect_shape("states of an encoder", states, {run.sequences->tokens(), stack_.config().d_model});
  View<2> x = rows(run.workspace.states, 0, states.shape(0));  // [N, D]
  std::copy_n(states.data(), states.size(), x.data());
  return run_blocks(first, x, run);
}

View<2> Encoder::run_blocks(std::size_t first, View<2> x, const Run& run) const {
  for (std::size_t layer = first; layer < stack_.config().layers; ++layer) {
    stack_.block(layer, x, run);
  }
  stack_.finish(x, run);
  return x;
}

std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config) {
  if (!request.attention && !request.names_any()) return nullptr;
  return std::make_unique<SequenceTracer>(request, sequences, config.layers, config.n_heads);
}

}  // namespace glassformer
