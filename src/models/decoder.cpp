#include "models/decoder.hpp"

namespace glassformer {

void Decoder::attend_to(const ConstView<2>& encoder_states, DecodingState& state,
                        Workspace& workspace) const {
  std::optional<StepTracer> tracer = state.trace_sources();
  Run run(workspace, tracer ? &*tracer : nullptr);
  const Run::Scope scope = run.scope("decoder"), layers = run.scope("layers");
  for (std::size_t i = 0; i < stack_.config().layers; ++i) {
    const Run::Scope layer = run.scope(i), site = run.scope("encoder_attn");
    Tensor<2>& kv = state.cache_.cross[i];
    stack_.block(i).encoder_attn().keys_values(encoder_states, rows(kv, 0, kv.shape(0)), run);
  }
}

View<2> Decoder::operator()(DecodingState& state, std::span<const Extension> extensions,
                            Workspace& workspace) const {
  const std::size_t n = extensions.size();
  const std::size_t first = state.tree().size();
  state.append(extensions);
  workspace.reserve_keys(state.most_keys());
  std::optional<StepTracer> tracer = state.trace_step();
  Run run(workspace, tracer ? &*tracer : nullptr);
  const Run::Scope scope = run.scope("decoder");

  View<2> x = rows(workspace.states, 0, n);  // [R, D]
  embed(state, x, run);
  for (std::size_t layer = 0; layer < stack_.config().layers; ++layer) {
    const DecodingStep step = state.step(layer, first, n);
    run.step = &step;
    stack_.block(layer, x, run);
  }
  stack_.finish(x, run);
  return x;
}

}  // namespace glassformer
