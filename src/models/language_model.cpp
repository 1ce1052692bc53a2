#include "models/language_model.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "layers/elementwise/elementwise.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
LanguageModel::LanguageModel(const Architecture& architecture, Compute compute)
    : LanguageModel(architecture, compute, Stack::Kind::decoder) {}

LanguageModel::LanguageModel(const Architecture& architecture, Compute compute, Stack::Kind kind)
    : architecture_(architecture),
      compute_(compute),
      lm_head_(architecture.decoder->d_model, architecture.head.outputs, outside_blocks(compute)),
      embed_tokens_(architecture.embeddings == EmbeddingSharing::stacks
                        ? make_shared_table(*architecture.decoder, compute)
                        : nullptr),
      decoder_(kind, *architecture.decoder, compute, make_decoder_embedding(compute)) {}

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

std::vector<NamedParameter> LanguageModel::parameters() {
  std::vector<NamedParameter> parameters;
  const ParameterScope root(parameters);
  declare_head(root);
  declare_decoder(root);
  return parameters;
}

void LanguageModel::prepare(DecodingState& state, std::size_t longest) const {
  Session& session = state.session();
  const DecodingLimits& limits = state.limits();
  session.reserve_attention(std::max(std::min(limits.positions, likely_positions), longest));
  decoder_.input().reserve_positions(
      1, session);  // reserves more than one, so the first steps allocate none
  decoder_.stack().reserve_distances(1, session);
  decoder_.reserve(state, limits.rows);
}

DecodingState LanguageModel::begin(std::size_t texts, const DecodingLimits& limits,
                                   const TraceRequest& request, Session& session) const {
  Sequences nothing;  // a text attends to nothing but itself
  for (std::size_t i = 0; i < texts; ++i) nothing.add(0);
  DecodingState state(decoder_.stack().config(), nothing, limits, request, session);
  prepare(state, 0);
  return state;
}

// If an allocation fails, nothing is reserved, and the next call may request less.
void LanguageModel::reserve_logits(std::size_t rows, Session& session) const {
  Tensor& logits = session.logits;
  const std::size_t columns = vocab_size();
  if (logits.shape(1) == columns && rows <= logits.shape(0)) return;
  checked_product("logits", {rows, columns});
  logits = Tensor::from_shape({0, columns});
  logits = Tensor::from_shape({rows, columns});
}

float LanguageModel::scale_of_states() const {
  if (!architecture_.head.scale_states) return 1.0f;
  return 1.0f / std::sqrt(static_cast<float>(architecture_.decoder->d_model));
}

void LanguageModel::project(const ConstView& hidden, const Linear& projection, View logits,
                            Session& session) const {
  if (architecture_.head.scale_states) {
    const Arena::Scope memory(session.arena);
    View scaled = session.arena.make(hidden.shape(0), hidden.shape(1));
    kernels().scale(scaled.data(), hidden.data(), hidden.size(), scale_of_states());
    projection(const_view(scaled), logits, session);
  } else {
    projection(hidden, logits, session);
  }
  if (architecture_.head.logit_cap) cap(*architecture_.head.logit_cap, logits, Run(session));
}

View LanguageModel::forward(const Targets& targets, const ConstView* states, Run& run) const {
  View hidden = run.make(targets.batch.tokens(), architecture_.decoder->d_model);  // [T, D]
  decoder_.read(targets.batch, states, hidden, run);
  if (!targets.rows.empty()) {
    const View chosen = run.make(targets.rows.size(), hidden.shape(1));
    take_rows(const_view(hidden), targets.rows, chosen, run);
    hidden = chosen;
  }
  ConstView scaled = const_view(hidden);
  if (architecture_.head.scale_states) {
    const View x = run.make(hidden.shape(0), hidden.shape(1));
    scale(scaled, scale_of_states(), x, run);
    scaled = const_view(x);
  }
  View logits = run.make(hidden.shape(0), vocab_size());
  lm_head_(scaled, logits, run);
  if (architecture_.head.logit_cap) cap(*architecture_.head.logit_cap, logits, run);
  run.done("logits", logits);
  return logits;
}

View LanguageModel::project(const ConstView& hidden, Session& session) const {
  reserve_logits(hidden.shape(0), session);
  View logits = rows(session.logits, 0, hidden.shape(0));
  project(hidden, lm_head_, logits, session);
  return logits;
}

View LanguageModel::project_stream(View stream, Session& session) const {
  decoder_.stack().finish(stream, Run(session));
  return project(const_view(stream), session);
}

View LanguageModel::project(const ConstView& hidden, DecodingState& state) const {
  View logits = project(hidden, state.session());
  if (std::optional<StepTracer> tracer = state.trace_step()) {
    Run(state.session(), &*tracer).done("logits", logits);
  }
  return logits;
}

void LanguageModel::list(DecodingState& state, TensorList& tensors) const {
  tensors.set_rows(ModelTensor::Axis::target);
  decoder_.list(state, tensors);
  const View logits = view(static_cast<float*>(nullptr), {0, vocab_size()});
  Run(state.session(), &tensors).done("logits", logits);
}

std::vector<ModelTensor> LanguageModel::tensors(Session& session) const {
  TensorList tensors;
  DecodingState state = begin(1, {.nodes = 1, .positions = 1, .rows = 1}, {}, session);
  list(state, tensors);
  return tensors.take();
}

}  // namespace glassformer
