#include "models/encoder.hpp"

#include <cmath>

namespace glassformer {
namespace {

std::unique_ptr<LayerNorm> make_layer_norm(const ModelConfig& config) {
  switch (config.layer_norm) {
    case LayerNormKind::standard:
      return std::make_unique<StandardLayerNorm>(config.d_model, config.layer_norm_eps);
    case LayerNormKind::unbiased:
      return std::make_unique<UnbiasedLayerNorm>(config.d_model, config.layer_norm_eps);
  }
  return nullptr;
}

std::unique_ptr<PositionalEncoding> make_positions(const ModelConfig& config) {
  switch (config.positions) {
    case PositionKind::sinusoidal:
      return std::make_unique<SinusoidalEncoding>(config.max_source_length, config.d_model);
    case PositionKind::learned:
      return std::make_unique<LearnedPositions>(config.max_source_length, config.d_model);
  }
  return nullptr;
}

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

Epilogue epilogue_of(Activation activation) {
  return activation == Activation::relu ? Epilogue::relu : Epilogue::gelu;
}

std::unique_ptr<EncoderLayer> make_layer(const ModelConfig& config) {
  EncoderLayer::Parts parts = {
      .self_attn = std::make_unique<MultiHeadAttention>(
          config.d_model, config.n_heads, config.attention_bias ? Bias::present : Bias::none,
          make_attention(config)),
      .self_attn_layer_norm = make_layer_norm(config),
      .feed_forward = std::make_unique<FeedForward>(config.d_model, config.d_ff,
                                                    epilogue_of(config.activation)),
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

Encoder::Encoder(const ModelConfig& config)
    : embed_tokens_(config.vocab_size, config.d_model,
                    config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0f),
      embed_positions_(make_positions(config)),
      n_heads_(config.n_heads) {
  for (std::size_t i = 0; i < config.encoder_layers; ++i) layers_.push_back(make_layer(config));
  if (config.final_norm) layer_norm_ = make_layer_norm(config);
}

void Encoder::declare(const ParameterScope& scope) {
  embed_tokens_.declare(scope.scope("embed_tokens"));
  embed_positions_->declare(scope.scope("embed_positions"));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->declare(scope.scope("layers").scope(i));
  }
  if (layer_norm_) layer_norm_->declare(scope.scope("layer_norm"));
}

void Encoder::embed(const Batch& batch, View<2> x) const {
  embed_tokens_(batch, x);
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
      if (head.layer == layer) ablated.push_back(head.head);
    }
    (*layers_[layer])(x, batch, {.layer = layer, .ablated = ablated, .maps = maps}, workspace);
  }
  if (layer_norm_) (*layer_norm_)(const_view(x), x);
  return x;
}

}  // namespace glassformer
