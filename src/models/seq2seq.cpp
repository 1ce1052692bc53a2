#include "models/seq2seq.hpp"

#include <algorithm>

#include "tensor/sizes.hpp"

namespace glassformer {

Seq2Seq::Seq2Seq(const Architecture& architecture, Compute compute)
    : architecture_(architecture),
      compute_(compute),
      lm_head_(architecture.decoder->d_model, architecture.head.outputs, compute),
      encoder_(*architecture.encoder, compute,
               architecture.embeddings == EmbeddingSharing::shared
                   ? make_embedding(*architecture.encoder, lm_head_)
                   : make_embedding(*architecture.encoder, compute)),
      decoder_(*architecture.decoder, compute,
               architecture.embeddings == EmbeddingSharing::separate
                   ? make_embedding(*architecture.decoder, compute)
                   : make_embedding(*architecture.decoder, lm_head_)),
      workspace_(workspace_shape(*architecture.encoder, *architecture.decoder)),
      logits_({0, architecture.head.outputs}) {}

std::vector<Parameter> Seq2Seq::parameters() {
  std::vector<Parameter> parameters;
  const ParameterScope root(parameters);
  switch (architecture_.embeddings) {
    case EmbeddingSharing::shared:
      lm_head_.declare_weight(root.scope("embed_tokens"));
      break;
    case EmbeddingSharing::tied:
      lm_head_.declare_weight(root.scope("decoder").scope("embed_tokens"));
      break;
    case EmbeddingSharing::separate:
      lm_head_.declare_weight(root.scope("lm_head"));
      break;
  }
  if (architecture_.head.bias) lm_head_.declare_bias(root.scope("lm_head"));
  encoder_.declare(root.scope("encoder"));
  decoder_.declare(root.scope("decoder"));
  return parameters;
}

Seq2Seq::Encoded Seq2Seq::encode(const Batch& sources, const TraceRequest& request) {
  Encoded encoded;
  encoded.sources = sources;
  const auto tracer = make_tracer(request, sources, encoder_.stack().config());
  Run run(workspace_, tracer.get());
  run.sequences = &sources;
  encoded.states = const_view(encoder_(sources, run));
  for (std::size_t i = 0; tracer && i < sources.size(); ++i) {
    if (!request.names.empty()) encoded.traces.push_back(tracer->take_tensors(i));
    if (request.attention) encoded.attention.push_back(tracer->take_attention(i));
  }
  return encoded;
}

DecodingState Seq2Seq::begin(const Encoded& encoded, const DecodingLimits& limits,
                             const TraceRequest& request) {
  DecodingState state(decoder_.stack().config(), encoded.sources, limits, request);
  workspace_.reserve(limits.rows, std::max(std::min(limits.positions, likely_positions),
                                           encoded.sources.longest()));
  decoder_.attend_to(const_view(encoded.states), state, workspace_);
  reserve_logits(limits.rows);
  return state;
}

View<2> Seq2Seq::decode(DecodingState& state, std::span<const Extension> extensions) {
  return decoder_(state, extensions, workspace_);
}

// If memory runs out, there is room for none, and the next call may ask for less.
void Seq2Seq::reserve_logits(std::size_t rows) {
  if (rows <= logits_.shape(0)) return;
  const std::size_t columns = logits_.shape(1);
  checked_product("logits", {rows, columns});
  logits_ = Tensor<2>::from_shape({0, columns});
  logits_ = Tensor<2>::from_shape({rows, columns});
}

View<2> Seq2Seq::project(const ConstView<2>& hidden) {
  reserve_logits(hidden.shape(0));
  View<2> logits = rows(logits_, 0, hidden.shape(0));
  project(hidden, lm_head_, logits);
  return logits;
}

View<2> Seq2Seq::project_stream(View<2> stream) {
  decoder_.stack().finish(stream, Run(workspace_));
  return project(const_view(stream));
}

View<2> Seq2Seq::project(const ConstView<2>& hidden, DecodingState& state) {
  View<2> logits = project(hidden);
  if (std::optional<StepTracer> tracer = state.trace_step()) {
    Run(workspace_, &*tracer).see("logits", logits);
  }
  return logits;
}

}  // namespace glassformer
