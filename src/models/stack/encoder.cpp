#include "models/stack/encoder.hpp"

namespace glassformer {

void Encoder::declare(const ParameterScope& scope) {
  input_->declare(scope);
  stack_.declare(scope);
}

void Encoder::list(View x, Run run) const {
  const Run::Scope scope = run.scope("encoder");
  stack_.begin(0, run);
  input_->list(x, run);
  stack_.run_from(0, x, run);
}

template <class Blocks>
void Encoder::go_on(View x, Run& run, const Blocks& blocks) const {
  const Run::Scope scope = run.scope("encoder");
  const Arena::Scope memory(run.arena());
  stack_.begin(x.shape(0), run);
  run.session().reserve_attention(run.sequences->longest());
  blocks();
}

void Encoder::resume(std::size_t first, View x, Run run) const {
  go_on(x, run, [&] { stack_.run_from(first, x, run); });
}

void Encoder::block(std::size_t layer, View x, Run run) const {
  go_on(x, run, [&] { stack_.block(layer, x, run); });
}

std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config) {
  if (!request.attention && !request.names_any()) return nullptr;
  return std::make_unique<SequenceTracer>(request, sequences, config.layers.size(),
                                          config.n_heads());
}

}  // namespace glassformer
