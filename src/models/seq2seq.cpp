#include "models/seq2seq.hpp"

#include <algorithm>

namespace glassformer {

Seq2Seq::Seq2Seq(const Architecture& architecture, Compute compute)
    : LanguageModel(architecture, compute, Stack::Kind::attends),
      encoder_(*architecture.encoder, compute, make_encoder_embedding()) {}

std::unique_ptr<Embedding> Seq2Seq::make_encoder_embedding() const {
  const StackConfig& config = *architecture().encoder;
  if (embed_tokens()) return make_embedding(config, *embed_tokens());
  if (architecture().embeddings == EmbeddingSharing::shared) {
    return make_embedding(config, lm_head());
  }
  return make_embedding(config, compute());
}

std::vector<Parameter> Seq2Seq::parameters() {
  std::vector<Parameter> parameters;
  const ParameterScope root(parameters);
  declare_head(root);
  encoder_.declare(root.scope("encoder"));
  declare_decoder(root);
  return parameters;
}

Seq2Seq::Encoded Seq2Seq::encode(const Batch& sources, const TraceRequest& request) {
  Encoded encoded;
  encoded.sources = sources;
  const auto tracer = make_tracer(request, sources, encoder_.stack().config());
  Run run(workspace(), tracer.get());
  run.sequences = &sources;
  encoded.states = copy_of(encoder_(sources, run));
  for (std::size_t i = 0; tracer && i < sources.size(); ++i) {
    if (!request.names.empty()) encoded.traces.push_back(tracer->take_tensors(i));
    if (request.attention) encoded.attention.push_back(tracer->take_attention(i));
  }
  return encoded;
}

DecodingState Seq2Seq::begin(const Encoded& encoded, const DecodingLimits& limits,
                             const TraceRequest& request) {
  DecodingState state(decoder().stack().config(), encoded.sources, limits, request);
  prepare(limits, encoded.sources.longest());
  decoder().attend_to(const_view(encoded.states), state, workspace());
  reserve_logits(limits.rows);
  return state;
}

}  // namespace glassformer
