#include "models/language_model.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

WorkspaceShape shape_of(const Architecture& architecture) {
  if (!architecture.encoder) return workspace_shape(*architecture.decoder);
  return workspace_shape(*architecture.encoder, *architecture.decoder);
}

// The table of both stacks, where it is not lm_head's weight. They scale its rows.
std::unique_ptr<Embedding> make_shared_table(const Architecture& architecture, Compute compute) {
  if (architecture.embeddings != EmbeddingSharing::stacks) return nullptr;
  StackConfig plain = *architecture.decoder;
  plain.scale_embedding = false;
  return make_embedding(plain, compute);
}

}  // namespace

LanguageModel::LanguageModel(const Architecture& architecture, Compute compute)
    : LanguageModel(architecture, compute, Stack::Kind::alone) {}

LanguageModel::LanguageModel(const Architecture& architecture, Compute compute, Stack::Kind kind)
    : architecture_(architecture),
      compute_(compute),
      lm_head_(architecture.decoder->d_model, architecture.head.outputs, compute),
      embed_tokens_(make_shared_table(architecture, compute)),
      decoder_(kind, *architecture.decoder, compute, make_decoder_embedding(compute)),
      workspace_(shape_of(architecture)),
      logits_({0, architecture.head.outputs}) {}

std::unique_ptr<Embedding> LanguageModel::make_decoder_embedding(Compute compute) const {
  const StackConfig& config = *architecture_.decoder;
  if (embed_tokens_) return make_embedding(config, *embed_tokens_);
  if (architecture_.embeddings == EmbeddingSharing::separate) {
    return make_embedding(config, compute);
  }
  return make_embedding(config, lm_head_);
}

void LanguageModel::declare_head(const ParameterScope& root) {
  switch (architecture_.embeddings) {
    case EmbeddingSharing::shared:
      lm_head_.declare_weight(root.scope("embed_tokens"));
      break;
    case EmbeddingSharing::tied:
      lm_head_.declare_weight(root.scope("decoder").scope("embed_tokens"));
      break;
    case EmbeddingSharing::stacks:
      embed_tokens_->declare(root.scope("embed_tokens"));
      lm_head_.declare_weight(root.scope("lm_head"));
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
  decoder_.stack().reserve_positions(1);  // and some more: the first steps allocate nothing
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

float LanguageModel::scale_of_states() const {
  if (!architecture_.head.scale_states) return 1.0f;
  return 1.0f / std::sqrt(static_cast<float>(architecture_.decoder->d_model));
}

void LanguageModel::project(const ConstView<2>& hidden, const Linear& projection, View<2> logits) {
  if (!architecture_.head.scale_states) return projection(hidden, logits, workspace_);
  View<2> scaled = rows(workspace_.normed, 0, hidden.shape(0));  // [R, D]
  kernels().scale(scaled.data(), hidden.data(), hidden.size(), scale_of_states());
  projection(const_view(scaled), logits, workspace_);
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
