#include "models/parts.hpp"

#include <cmath>

namespace glassformer {
namespace {

float embedding_scale(const ModelConfig& config) {
  return config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0f;
}

}  // namespace

std::unique_ptr<LayerNorm> make_layer_norm(const ModelConfig& config) {
  switch (config.layer_norm) {
    case LayerNormKind::standard:
      return std::make_unique<StandardLayerNorm>(config.d_model, config.layer_norm_eps);
    case LayerNormKind::unbiased:
      return std::make_unique<UnbiasedLayerNorm>(config.d_model, config.layer_norm_eps);
  }
  return nullptr;
}

std::unique_ptr<PositionalEncoding> make_positions(const ModelConfig& config, std::size_t longest) {
  switch (config.positions) {
    case PositionKind::sinusoidal:
      return std::make_unique<SinusoidalEncoding>(longest, config.d_model);
    case PositionKind::learned:
      return std::make_unique<LearnedPositions>(longest, config.d_model);
  }
  return nullptr;
}

std::unique_ptr<FeedForward> make_feed_forward(const ModelConfig& config, Compute compute) {
  return std::make_unique<FeedForward>(
      config.d_model, config.d_ff,
      config.activation == Activation::relu ? Epilogue::relu : Epilogue::gelu, compute);
}

std::unique_ptr<Embedding> make_embedding(const ModelConfig& config, std::size_t vocab_size,
                                          Compute compute) {
  const float scale = embedding_scale(config);
  if (compute == Compute::int8) {
    return std::make_unique<Int8TableEmbedding>(vocab_size, config.d_model, scale);
  }
  return std::make_unique<TableEmbedding>(vocab_size, config.d_model, scale);
}

std::unique_ptr<Embedding> make_embedding(const ModelConfig& config, const Linear& lm_head) {
  return std::make_unique<TiedEmbedding>(lm_head, embedding_scale(config));
}

}  // namespace glassformer
