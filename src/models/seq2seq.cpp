#include "models/seq2seq.hpp"

#include <algorithm>

#include "models/parts.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

Seq2Seq::Seq2Seq(const ModelConfig& config, Compute compute)
    : config_(config),
      compute_(compute),
      lm_head_(config.d_model, config.target_vocab_size, compute),
      encoder_(config, compute,
               config.embeddings == EmbeddingSharing::shared
                   ? make_embedding(config, lm_head_)
                   : make_embedding(config, config.vocab_size, compute)),
      decoder_(config, compute,
               config.embeddings == EmbeddingSharing::separate
                   ? make_embedding(config, config.target_vocab_size, compute)
                   : make_embedding(config, lm_head_)),
      workspace_(config.d_model, config.d_ff),
      logits_({0, config.target_vocab_size}) {}

std::vector<Parameter> Seq2Seq::parameters() {
  std::vector<Parameter> parameters;
  const ParameterScope root(parameters);
  switch (config_.embeddings) {
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
  if (config_.lm_head_bias) lm_head_.declare_bias(root.scope("lm_head"));
  encoder_.declare(root.scope("encoder"));
  decoder_.declare(root.scope("decoder"));
  return parameters;
}

Seq2Seq::Encoded Seq2Seq::encode(const Batch& sources, const InspectionRequest& request) {
  Encoded encoded;
  encoded.sources = sources;
  encoded.states = encoder_(sources, request, encoded.attention, workspace_);
  return encoded;
}

DecodingState Seq2Seq::begin(const Encoded& encoded, const DecodingLimits& limits,
                             const InspectionRequest& request) {
  DecodingState state(config_, encoded.sources, limits, request);
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

}  // namespace glassformer
