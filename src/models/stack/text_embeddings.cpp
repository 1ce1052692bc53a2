#include "models/stack/text_embeddings.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "layers/elementwise/elementwise.hpp"
#include "models/stack/add_embedding.hpp"

namespace glassformer {
namespace {

float embedding_scale(const StackConfig& config) {
  return config.tokens().scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0f;
}

}  // namespace

TextEmbeddings::TextEmbeddings(const StackConfig& config, std::unique_ptr<Embedding> embed_tokens)
    : config_(config.tokens()), embed_tokens_(std::move(embed_tokens)) {
  const std::size_t width = config.embedding_width();
  embed_positions_ =
      make_positions(config_.positions, config.max_length, width, config_.position_offset);
  if (config_.token_types > 0) {
    embed_types_ = std::make_unique<TypeEmbedding>(config_.token_types, width);
  }
  if (config_.norm) layernorm_embedding_ = make_norm(config.layer_norm, width);
  if (config_.d_embedding > 0) {
    embed_projection_ = std::make_unique<Linear>(width, config.d_model, Compute::f32);
  }
}

void TextEmbeddings::declare(const ParameterScope& scope) {
  embed_tokens_->declare(scope.scope("embed_tokens"));
  if (embed_positions_) embed_positions_->declare(scope.scope("embed_positions"));
  if (embed_types_) embed_types_->declare(scope.scope("embed_types"));
  if (layernorm_embedding_) layernorm_embedding_->declare(scope.scope("layernorm_embedding"));
  if (embed_projection_) {
    embed_projection_->declare(scope.scope("embed_projection"), Bias::present);
  }
}

View TextEmbeddings::rows_for(View x, const Run& run) const {
  return embed_projection_ ? run.make(x.shape(0), embed_projection_->in()) : x;
}

template <class Positions>
void TextEmbeddings::add_rest(const Positions& positions, std::span<const std::int32_t> types,
                              View embeddings, View x, const Run& run) const {
  run.done("embed_tokens", embeddings);
  if (embed_positions_) {
    add_embedding("embed_positions", embeddings, run,
                  [&](View sum) { embed_positions_->add_to(sum, positions, run); });
  }
  if (embed_types_) {
    add_embedding("embed_types", embeddings, run,
                  [&](View sum) { embed_types_->add_to(sum, types, run); });
  }
  if (layernorm_embedding_) {
    (*layernorm_embedding_)(const_view(embeddings), embeddings, run);
  }
  if (embed_projection_) (*embed_projection_)(const_view(embeddings), x, run);
  run.done("embeddings", x);
  run.drop(x);
}

void TextEmbeddings::operator()(const Batch& batch, View x, const Run& run) const {
  const Arena::Scope memory(run.arena());
  const View rows = rows_for(x, run);
  const std::span<const std::int32_t> ids = batch.ids(), types = batch.types();
  (*embed_tokens_)(ids, rows, run);
  if (!batch.positions().empty()) return add_rest(batch.positions(), types, rows, x, run);
  if (config_.padding && std::ranges::find(ids, *config_.padding) != ids.end()) {
    const std::vector<std::size_t> positions = without_padding(ids, batch);
    return add_rest(std::span<const std::size_t>(positions), types, rows, x, run);
  }
  add_rest<Sequences>(batch, types, rows, x, run);
}

void TextEmbeddings::operator()(std::span<const std::int32_t> ids,
                                std::span<const std::size_t> positions, View x,
                                const Run& run) const {
  const Arena::Scope memory(run.arena());
  const View embedded = rows_for(x, run);
  (*embed_tokens_)(ids, embedded, run);
  for (std::size_t i = 0; config_.zero_start && i < positions.size(); ++i) {
    if (positions[i] == 0) set_to_zero(rows(embedded, i, 1), run);
  }
  std::vector<std::size_t> places;
  if (config_.padding && std::ranges::find(ids, *config_.padding) != ids.end()) {
    places.assign(positions.begin(), positions.end());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == *config_.padding) places[i] = PositionalEncoding::none;
    }
    positions = places;
  }
  add_rest(positions, {}, embedded, x, run);
}

std::vector<std::size_t> TextEmbeddings::without_padding(std::span<const std::int32_t> ids,
                                                         const Sequences& sequences) const {
  std::vector<std::size_t> positions;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    std::size_t next = 0;
    for (const std::int32_t id : ids.subspan(sequences.start(s), sequences.length(s))) {
      positions.push_back(id == *config_.padding ? PositionalEncoding::none : next++);
    }
  }
  return positions;
}

std::unique_ptr<Embedding> make_embedding(const StackConfig& config, Compute compute) {
  const float scale = embedding_scale(config);
  const std::size_t rows = config.vocab_size(), width = config.embedding_width();
  if (compute != Compute::f32) {
    return std::make_unique<Int8TableEmbedding>(rows, width, scale);
  }
  return std::make_unique<TableEmbedding>(rows, width, scale);
}

std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Linear& lm_head) {
  return std::make_unique<TiedEmbedding>(lm_head, embedding_scale(config));
}

std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Embedding& table) {
  return std::make_unique<SharedEmbedding>(table, embedding_scale(config));
}

std::unique_ptr<Embedding> make_shared_table(StackConfig config, Compute compute) {
  config.tokens().scale_embedding = false;
  return make_embedding(config, compute);
}

}  // namespace glassformer
