#include "models/stack.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/kernels.hpp"
#include "layers/attention/recurrent_unit.hpp"
#include "linked.hpp"

namespace glassformer {
namespace {

Bias bias_if(bool present) { return present ? Bias::present : Bias::none; }

float embedding_scale(const StackConfig& config) {
  return config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0f;
}

std::unique_ptr<Norm> make_norm(const StackConfig& config) {
  return make_norm(config.layer_norm, config.d_model, config.layer_norm_eps);
}

AttentionShape attention_shape(const StackConfig& config, std::size_t layer) {
  const float root = std::sqrt(static_cast<float>(config.d_head));
  const float deepening = config.divide_by_layer ? static_cast<float>(layer + 1) : 1.0f;
  return {.d_model = config.d_model,
          .n_heads = config.n_heads,
          .d_head = config.d_head,
          .divisor = config.score_divisor.value_or(root) * deepening,
          .bias = bias_if(config.attention_bias)};
}

std::unique_ptr<RelativeBias> make_relative_bias(const StackConfig& config) {
  if (config.positions != PositionKind::relative) return nullptr;
  const bool causal = config.attention == AttentionType::causal;
  return std::make_unique<RelativeBias>(
      RelativeBiasShape{.n_heads = config.n_heads,
                        .buckets = config.relative_buckets,
                        .distance = config.relative_distance,
                        .distances = causal ? Distances::before : Distances::both_ways});
}

// What the blocks of a stack have in common.
struct BlockParts {
  Stack::Kind kind;
  const StackConfig& config;
  Compute compute;
  RelativeBias* relative;  // null: none
};

std::unique_ptr<Block> make_block(const BlockParts& parts, std::size_t layer) {
  const auto& [kind, config, compute, relative] = parts;
  const AttentionShape attention = attention_shape(config, layer);
  const auto residual = [&](const char* name) {
    return Residual(name, make_norm(config), config.norm);
  };
  std::optional<Block::Sublayer<TokenMixer>> encoder_attn;
  if (links_writers() && kind == Stack::Kind::attends) {
    encoder_attn = {std::make_unique<CrossAttention>(attention, compute),
                    residual("encoder_attn_layer_norm")};
  }
  const FeedForwardShape feed_forward = {.d_model = config.d_model,
                                         .d_ff = config.d_ff,
                                         .activation = config.activation,
                                         .bias = bias_if(config.feed_forward_bias)};
  std::unique_ptr<TokenMixer> self_attn;
  if (links_writers() && config.attention == AttentionType::recurrent) {
    self_attn = std::make_unique<RecurrentUnit>(config.d_model, compute);
  } else {
    self_attn = std::make_unique<SelfAttention>(
        attention, make_attention_kind(config.attention, config.attention_window), compute,
        relative);
  }
  return std::make_unique<Block>(
      Block::Sublayer<TokenMixer>{std::move(self_attn), residual("self_attn_layer_norm")},
      std::move(encoder_attn),
      Block::Sublayer<FeedForward>{make_feed_forward(config.gated, feed_forward, compute),
                                   residual("final_layer_norm")});
}

}  // namespace

Stack::Stack(Kind kind, const StackConfig& config, Compute compute,
             std::unique_ptr<Embedding> embed_tokens)
    : config_(config),
      embed_tokens_(std::move(embed_tokens)),
      embed_positions_(make_positions(config.positions, config.max_length, config.d_model,
                                      config.position_offset)),
      relative_bias_(make_relative_bias(config)) {
  if (config.token_types > 0) {
    embed_types_ = std::make_unique<TypeEmbedding>(config.token_types, config.d_model);
  }
  if (config.embedding_norm) layernorm_embedding_ = make_norm(config);
  for (std::size_t i = 0; i < config.layers; ++i) {
    blocks_.push_back(make_block({kind, config, compute, relative_bias_.get()}, i));
  }
  if (config.final_norm) layer_norm_ = make_norm(config);
}

void Stack::declare(const ParameterScope& scope) {
  embed_tokens_->declare(scope.scope("embed_tokens"));
  if (embed_positions_) embed_positions_->declare(scope.scope("embed_positions"));
  if (relative_bias_) relative_bias_->declare(scope.scope("relative_bias"));
  if (embed_types_) embed_types_->declare(scope.scope("embed_types"));
  if (layernorm_embedding_) layernorm_embedding_->declare(scope.scope("layernorm_embedding"));
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i]->declare(scope.scope("layers").scope(i));
  }
  if (layer_norm_) layer_norm_->declare(scope.scope("layer_norm"));
}

namespace {

// add(x): x += some embedding. Where somebody looks at that by its name, it is made apart first.
template <class Add>
void add_embedding(std::string_view name, View<2> x, const Run& run, const Add& add) {
  if (!run.traces(name)) return add(x);
  View<2> added = run.workspace.room_to_trace(x.shape(0));  // [N, D]
  std::fill_n(added.data(), added.size(), 0.0f);
  add(added);
  run.see(name, added);
  kernels().add_scaled(x.data(), added.data(), added.size(), 1.0f);
}

}  // namespace

template <class Positions>
void Stack::embed_at(const Positions& positions, std::span<const std::int32_t> ids,
                     std::span<const std::int32_t> types, View<2> x, const Run& run) const {
  (*embed_tokens_)(ids, x);
  if constexpr (std::is_same_v<Positions, std::span<const std::size_t>>) {
    for (std::size_t i = 0; config_.zero_start && i < positions.size(); ++i) {
      if (positions[i] == 0) std::fill_n(&x(i, 0), config_.d_model, 0.0f);
    }
  }
  run.see("embed_tokens", x);
  if (embed_positions_) {
    add_embedding("embed_positions", x, run,
                  [&](View<2> sum) { embed_positions_->add_to(sum, positions); });
  }
  if (embed_types_) {
    add_embedding("embed_types", x, run, [&](View<2> sum) { embed_types_->add_to(sum, types); });
  }
  if (layernorm_embedding_) (*layernorm_embedding_)(const_view(x), x);
  run.see("embeddings", x);
}

void Stack::embed(const Batch& batch, View<2> x, const Run& run) const {
  const std::span<const std::int32_t> ids = batch.ids(), types = batch.types();
  if (!batch.positions().empty()) return embed_at(batch.positions(), ids, types, x, run);
  if (config_.padding && std::ranges::find(ids, *config_.padding) != ids.end()) {
    const std::vector<std::size_t> positions = without_padding(ids, batch);
    return embed_at(std::span<const std::size_t>(positions), ids, types, x, run);
  }
  embed_at<Sequences>(batch, ids, types, x, run);
}

void Stack::embed(std::span<const std::int32_t> ids, std::span<const std::size_t> positions,
                  View<2> x, const Run& run) const {
  embed_at(positions, ids, {}, x, run);
}

std::vector<std::size_t> Stack::without_padding(std::span<const std::int32_t> ids,
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

void Stack::reserve_positions(std::size_t count) const {
  if (embed_positions_) embed_positions_->reserve(count);
  if (relative_bias_) relative_bias_->reserve(count);
}

void Stack::block(std::size_t layer, View<2> x, const Run& run) const {
  const Run::Scope layers = run.scope("layers"), index = run.scope(layer);
  (*blocks_[layer])(x, run);
}

void Stack::finish(View<2> x, const Run& run) const {
  if (layer_norm_) {
    (*layer_norm_)(const_view(x), x);
    run.see("layer_norm", x);
  }
  run.see("output", x);
}

std::unique_ptr<Embedding> make_embedding(const StackConfig& config, Compute compute) {
  const float scale = embedding_scale(config);
  if (compute == Compute::int8) {
    return std::make_unique<Int8TableEmbedding>(config.vocab_size, config.d_model, scale);
  }
  return std::make_unique<TableEmbedding>(config.vocab_size, config.d_model, scale);
}

std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Linear& lm_head) {
  return std::make_unique<TiedEmbedding>(lm_head, embedding_scale(config));
}

std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Embedding& table) {
  return std::make_unique<SharedEmbedding>(table, embedding_scale(config));
}

WorkspaceShape workspace_shape(const StackConfig& config) {
  return {.d_model = config.d_model,
          .d_heads = config.n_heads * config.d_head,
          .d_hidden = FeedForward::d_hidden(config.gated, config.d_ff)};
}

WorkspaceShape workspace_shape(const StackConfig& one, const StackConfig& other) {
  const WorkspaceShape a = workspace_shape(one), b = workspace_shape(other);
  return {.d_model = std::max(a.d_model, b.d_model),
          .d_heads = std::max(a.d_heads, b.d_heads),
          .d_hidden = std::max(a.d_hidden, b.d_hidden)};
}

}  // namespace glassformer
