#include "models/stack/decoder.hpp"

#include <vector>

#include "base/error.hpp"

namespace glassformer {

void Decoder::declare(const ParameterScope& scope) {
  input_.declare(scope);
  stack_.declare(scope);
}

void Decoder::attend_to(const ConstView& encoder_states, DecodingState& state,
                        Tracer* tracer) const {
  const Run run(state.session(), tracer);
  const Arena::Scope memory(run.arena());
  const Run::Scope scope = run.scope("decoder"), layers = run.scope("layers");
  for (std::size_t i = 0; i < stack_.config().layers.size(); ++i) {
    const Run::Scope layer = run.scope(i), site = run.scope("encoder_attn");
    Tensor& kv = state.cache_.cross[i];
    stack_.block(i).encoder_attn().keys_values(encoder_states, rows(kv, 0, encoder_states.shape(0)),
                                               run);
  }
}

View Decoder::operator()(DecodingState& state, std::span<const Extension> extensions) const {
  Session& session = state.session();
  state.append(extensions);
  session.reserve_attention(state.most_keys());
  std::optional<StepTracer> tracer = state.trace_step();
  Run run(session, tracer ? &*tracer : nullptr);
  session.arena.clear();
  run.segments = state.segments();
  run.source_segments = state.source_segments();
  View x = run.make(extensions.size(), stack_.config().d_model);  // [R, D]
  run_step(state, x, run);
  return x;
}

void Decoder::run_step(DecodingState& state, View x, Run& run) const {
  const Run::Scope scope = run.scope("decoder");
  embed(state, x, run);
  for (std::size_t layer = 0; layer < stack_.config().layers.size(); ++layer) {
    const LayerCache cache = state.layer_cache(layer, x.shape(0));
    run.cache = &cache;
    run.source_keys = state.source_keys_values(layer);
    stack_.block(layer, x, run);
  }
  run.cache = nullptr;
  stack_.finish(x, run);
}

void Decoder::expect_attention() const {
  if (!stack_.config().recurrent()) return;
  throw_error(ErrorCode::unsupported,
              "expected a decoder with self-attention, got one with recurrent units");
}

KeyValueRows Decoder::keys_values(std::size_t layer, const ConstView& states,
                                  const Run& run) const {
  const std::size_t width = stack_.config().layers[layer].attention.d_kv_heads();
  const View kv = run.make(states.shape(0), 2 * width);
  const Run::Scope layers = run.scope("layers"), index = run.scope(layer),
                   site = run.scope("encoder_attn");
  stack_.block(layer).encoder_attn().keys_values(states, kv, run);
  return {kv.data(), kv.data() + width, 2 * width};
}

void Decoder::read(const Batch& batch, const ConstView* states, View x, Run& run) const {
  expect_attention();
  const Run::Scope scope = run.scope("decoder");
  std::vector<KeyValueRows> source_keys(stack_.config().layers.size());
  for (std::size_t layer = 0; states && layer < source_keys.size(); ++layer) {
    source_keys[layer] = keys_values(layer, *states, run);
  }
  input_(batch, x, run);
  for (std::size_t layer = 0; layer < source_keys.size(); ++layer) {
    run.source_keys = source_keys[layer];
    stack_.block(layer, x, run);
  }
  stack_.finish(x, run);
}

void Decoder::block(std::size_t layer, const ConstView* states, View x, Run& run) const {
  expect_attention();
  const Run::Scope scope = run.scope("decoder");
  if (states) run.source_keys = keys_values(layer, *states, run);
  stack_.block(layer, x, run);
}

void Decoder::reserve(DecodingState& state, std::size_t rows) const {
  Session& session = state.session();
  session.arena.clear();
  const Arena::Reservation reservation(session.arena, rows);
  const Arena::Scope memory(session.arena);
  Run run(session);
  run_step(state, run.make(0, stack_.config().d_model), run);
}

void Decoder::list(DecodingState& state, Tracer& tracer) const {
  const Arena::Scope memory(state.session().arena);
  Run run(state.session(), &tracer);
  const RowSegment none = {};
  run.segments = run.source_segments = std::span(&none, 1);
  run_step(state, run.make(0, stack_.config().d_model), run);
}

}  // namespace glassformer
