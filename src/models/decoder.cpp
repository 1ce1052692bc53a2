#include "models/decoder.hpp"

#include <optional>

namespace glassformer {
namespace {

// Traces one step of a decoding, or the sources' keys and values: rows that follow those before.
class StepTracer final : public NamingTracer {
 public:
  StepTracer(const TraceRequest& request, RowRecorder& recorder, std::size_t base,
             std::size_t count)
      : NamingTracer(request), recorder_(recorder), base_(base), total_(base + count) {
    enter("decoder");
  }

 protected:
  void keep(std::string name, const CompleteRows& rows) override {
    recorder_.keep(std::move(name), rows, base_, total_);
  }

 private:
  RowRecorder& recorder_;
  std::size_t base_, total_;
};

}  // namespace

void Decoder::attend_to(const ConstView<2>& encoder_states, DecodingState& state,
                        Workspace& workspace) const {
  stack_.positions().reserve(1);  // and some more: the first steps allocate nothing
  std::optional<StepTracer> tracer;
  if (!state.request_.names.empty()) {
    tracer.emplace(state.request_, state.traced_sources_, 0, encoder_states.shape(0));
  }
  Run run(workspace, tracer ? &*tracer : nullptr);
  const Run::Scope layers = run.scope("layers");
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
  std::optional<StepTracer> tracer;
  if (!state.request_.names.empty() || !state.request_.ablate.empty()) {
    tracer.emplace(state.request_, state.traced_nodes_, first, n);
  }
  Run run(workspace, tracer ? &*tracer : nullptr);

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
