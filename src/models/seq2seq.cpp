#include "models/seq2seq.hpp"

#include <algorithm>

namespace glassformer {

Seq2Seq::Seq2Seq(const Architecture& architecture, Compute compute)
    : LanguageModel(architecture, compute, Stack::Kind::decoder_with_encoder),
      encoder_(*architecture.encoder, compute,
               std::make_unique<TextEmbeddings>(*architecture.encoder, make_encoder_embedding())) {}

std::unique_ptr<Embedding> Seq2Seq::make_encoder_embedding() const {
  const StackConfig& config = *architecture().encoder;
  if (embed_tokens()) return make_embedding(config, *embed_tokens());
  if (architecture().embeddings == EmbeddingSharing::shared) {
    return make_embedding(config, lm_head());
  }
  return make_embedding(config, compute());
}

std::vector<NamedParameter> Seq2Seq::parameters() {
  std::vector<NamedParameter> parameters;
  const ParameterScope root(parameters);
  declare_head(root);
  encoder_.declare(root.scope("encoder"));
  declare_decoder(root);
  return parameters;
}

Seq2Seq::Encoded Seq2Seq::encode(const Batch& sources, const TraceRequest& request,
                                 Session& session) const {
  const auto tracer = make_tracer(request, sources, encoder_.stack().config());
  const std::vector<RowSegment> segments = segments_of(sources);
  Run run(session, tracer.get());
  run.sequences = &sources;
  run.segments = segments;
  run.positions = sources.positions();
  const Arena::Scope memory(run.arena());
  const View states = forward_sources(sources, run);

  Encoded encoded;
  encoded.sources = sources;
  encoded.states = copy_of(states);
  for (std::size_t i = 0; tracer && i < sources.size(); ++i) {
    if (!request.names.empty()) encoded.traces.push_back(tracer->take_tensors(i));
    if (request.attention) encoded.attention.push_back(tracer->take_attention(i));
  }
  return encoded;
}

View Seq2Seq::forward_sources(const Batch& sources, const Run& run) const {
  View states = run.make(sources.tokens(), encoder_.stack().config().d_model);  // [N, D]
  encoder_(sources, states, run);
  return states;
}

DecodingState Seq2Seq::begin(const Encoded& encoded, const DecodingLimits& limits,
                             const TraceRequest& request, Session& session) const {
  DecodingState state(decoder().stack().config(), encoded.sources, limits, request, session);
  prepare(state, encoded.sources.longest());
  std::optional<StepTracer> tracer = state.trace_sources();
  decoder().attend_to(const_view(encoded.states), state, tracer ? &*tracer : nullptr);
  reserve_logits(limits.rows, session);
  return state;
}

std::vector<ModelTensor> Seq2Seq::tensors(Session& session) const {
  TensorList tensors;
  tensors.set_rows(ModelTensor::Axis::source);
  encoder_.list(tensors, session, [](const View&, const Run&) {});
  Encoded none;
  none.states = Tensor::from_shape({0, encoder_.stack().config().d_model});
  DecodingState state = begin(none, {.nodes = 1, .positions = 1, .rows = 1}, {}, session);
  decoder().attend_to(const_view(none.states), state, &tensors);
  list(state, tensors);
  return tensors.take();
}

}  // namespace glassformer
