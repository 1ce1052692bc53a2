#include "models/encoder.hpp"

#include "models/parts.hpp"

namespace glassformer {
namespace {

std::unique_ptr<const AttentionKind> make_attention(const ModelConfig& config) {
  switch (config.attention) {
    case AttentionType::full:
      return std::make_unique<FullAttention>();
    case AttentionType::local:
      return std::make_unique<LocalAttention>(config.attention_window);
    case AttentionType::linear:
      return std::make_unique<LinearAttention>();
  }
  return nullptr;
}

std::unique_ptr<EncoderLayer> make_layer(const ModelConfig& config, Compute compute) {
  EncoderLayer::Parts parts = {
      .self_attn = std::make_unique<MultiHeadAttention>(
          config.d_model, config.n_heads, config.attention_bias ? Bias::present : Bias::none,
          make_attention(config), compute),
      .self_attn_layer_norm = make_layer_norm(config),
      .feed_forward = make_feed_forward(config, compute),
      .final_layer_norm = make_layer_norm(config),
  };
  switch (config.norm) {
    case NormPlacement::pre:
      return std::make_unique<PreNormEncoderLayer>(std::move(parts));
    case NormPlacement::post:
      return std::make_unique<PostNormEncoderLayer>(std::move(parts));
  }
  return nullptr;
}

}  // namespace

Encoder::Encoder(const ModelConfig& config, Compute compute,
                 std::unique_ptr<Embedding> embed_tokens)
    : embed_tokens_(std::move(embed_tokens)),
      embed_positions_(make_positions(config, config.max_source_length)),
      n_heads_(config.n_heads) {
  for (std::size_t i = 0; i < config.encoder_layers; ++i) {
    layers_.push_back(make_layer(config, compute));
  }
  if (config.final_norm) layer_norm_ = make_layer_norm(config);
}

void Encoder::declare(const ParameterScope& scope) {
  embed_tokens_->declare(scope.scope("embed_tokens"));
  embed_positions_->declare(scope.scope("embed_positions"));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->declare(scope.scope("layers").scope(i));
  }
  if (layer_norm_) layer_norm_->declare(scope.scope("layer_norm"));
}

void Encoder::embed(const Batch& batch, View<2> x) const {
  (*embed_tokens_)(batch.ids(), x);
  embed_positions_->add_to(x, batch);
}

View<2> Encoder::operator()(const Batch& batch, const InspectionRequest& request,
                            std::vector<AttentionMap>& maps, Workspace& workspace) const {
  workspace.reserve(batch.tokens(), batch.longest());
  maps.clear();
  if (request.capture) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      maps.push_back({.layers = layers_.size(),
                      .heads = n_heads_,
                      .queries = batch.length(i),
                      .keys = batch.length(i)});
    }
  }

  View<2> x = rows(workspace.states, 0, batch.tokens());  // [N, D]
  embed(batch, x);
  std::vector<std::size_t> ablated;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    ablated.clear();
    for (const HeadIndex& head : request.ablate) {
      if (head.attention == AttentionSite::encoder && head.layer == layer)
        ablated.push_back(head.head);
    }
    (*layers_[layer])(x, batch, {.layer = layer, .ablated = ablated, .maps = maps}, workspace);
  }
  if (layer_norm_) (*layer_norm_)(const_view(x), x);
  return x;
}

}  // namespace glassformer
