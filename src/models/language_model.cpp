#include "models/language_model.hpp"

#include <algorithm>

#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

WorkspaceShape shape_of(const Architecture& architecture) {
  if (!architecture.encoder) return workspace_shape(*architecture.decoder);
  return workspace_shape(*architecture.encoder, *architecture.decoder);
}

}  // namespace

LanguageModel::LanguageModel(const Architecture& architecture, Compute compute)
    : LanguageModel(architecture, compute, Stack::Kind::alone) {}

LanguageModel::LanguageModel(const Architecture& architecture, Compute compute, Stack::Kind kind)
    : architecture_(architecture),
      compute_(compute),
      lm_head_(architecture.decoder->d_model, architecture.head.outputs, compute),
      decoder_(kind, *architecture.decoder, compute,
               architecture.embeddings == EmbeddingSharing::separate
                   ? make_embedding(*architecture.decoder, compute)
                   : make_embedding(*architecture.decoder, lm_head_)),
      workspace_(shape_of(architecture)),
      logits_({0, architecture.head.outputs}) {}

void LanguageModel::declare_head(const ParameterScope& root) {
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
}

std::vector<Parameter> LanguageModel::parameters() {
  std::vector<Parameter> parameters;
  const ParameterScope root(parameters);
  declare_head(root);
  declare_decoder(root);
  return parameters;
}

void LanguageModel::prepare(const DecodingLimits& limits, std::size_t longest) {
  workspace_.reserve(limits.rows, std::max(std::min(limits.positions, likely_positions), longest));
  decoder_.stack().positions().reserve(1);  // and some more: the first steps allocate nothing
}

DecodingState LanguageModel::begin(std::size_t texts, const DecodingLimits& limits,
                                   const TraceRequest& request) {
  Sequences nothing;  // is what a text attends to beside itself
  for (std::size_t i = 0; i < texts; ++i) nothing.add(0);
  DecodingState state(decoder_.stack().config(), nothing, limits, request);
  prepare(limits, 0);
  return state;
}

// If memory runs out, there is room for none, and the next call may ask for less.
void LanguageModel::reserve_logits(std::size_t rows) {
  if (rows <= logits_.shape(0)) return;
  const std::size_t columns = logits_.shape(1);
  checked_product("logits", {rows, columns});
  logits_ = Tensor<2>::from_shape({0, columns});
  logits_ = Tensor<2>::from_shape({rows, columns});
}

View<2> LanguageModel::project(const ConstView<2>& hidden) {
  reserve_logits(hidden.shape(0));
  View<2> logits = rows(logits_, 0, hidden.shape(0));
  project(hidden, lm_head_, logits);
  return logits;
}

View<2> LanguageModel::project_stream(View<2> stream) {
  decoder_.stack().finish(stream, Run(workspace_));
  return project(const_view(stream));
}

View<2> LanguageModel::project(const ConstView<2>& hidden, DecodingState& state) {
  View<2> logits = project(hidden);
  if (std::optional<StepTracer> tracer = state.trace_step()) {
    Run(workspace_, &*tracer).see("logits", logits);
  }
  return logits;
}

}  // namespace glassformer
