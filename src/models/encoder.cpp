#include "models/encoder.hpp"

namespace glassformer {

View<2> Encoder::operator()(const Batch& batch, const Run& run) const {
  const Run::Scope scope = run.scope("encoder");
  run.workspace.reserve(batch.tokens(), batch.longest());
  View<2> x = rows(run.workspace.states, 0, batch.tokens());  // [N, D]
  stack_.embed(batch.ids(), batch.types(), x, run);
  for (std::size_t layer = 0; layer < stack_.config().layers; ++layer) stack_.block(layer, x, run);
  stack_.finish(x, run);
  return x;
}

std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config) {
  if (!request.attention && !request.names_any()) return nullptr;
  return std::make_unique<SequenceTracer>(request, sequences, config.layers, config.n_heads);
}

}  // namespace glassformer
