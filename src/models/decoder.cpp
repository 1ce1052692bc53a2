#include "models/decoder.hpp"

#include "models/parts.hpp"

namespace glassformer {
namespace {

std::unique_ptr<CachedAttention> make_attention(const ModelConfig& config, Compute compute) {
  return std::make_unique<CachedAttention>(
      config.d_model, config.n_heads, config.attention_bias ? Bias::present : Bias::none, compute);
}

std::unique_ptr<DecoderLayer> make_layer(const ModelConfig& config, Compute compute) {
  DecoderLayer::Parts parts = {
      .self_attn = make_attention(config, compute),
      .self_attn_layer_norm = make_layer_norm(config),
      .encoder_attn = make_attention(config, compute),
      .encoder_attn_layer_norm = make_layer_norm(config),
      .feed_forward = make_feed_forward(config, compute),
      .final_layer_norm = make_layer_norm(config),
  };
  switch (config.norm) {
    case NormPlacement::pre:
      return std::make_unique<PreNormDecoderLayer>(std::move(parts));
    case NormPlacement::post:
      return std::make_unique<PostNormDecoderLayer>(std::move(parts));
  }
  return nullptr;
}

}  // namespace

Decoder::Decoder(const ModelConfig& config, Compute compute,
                 std::unique_ptr<Embedding> embed_tokens)
    : embed_tokens_(std::move(embed_tokens)),
      embed_positions_(make_positions(config, config.max_target_length)) {
  for (std::size_t i = 0; i < config.decoder_layers; ++i) {
    layers_.push_back(make_layer(config, compute));
  }
  if (config.final_norm) layer_norm_ = make_layer_norm(config);
}

void Decoder::declare(const ParameterScope& scope) {
  embed_tokens_->declare(scope.scope("embed_tokens"));
  embed_positions_->declare(scope.scope("embed_positions"));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->declare(scope.scope("layers").scope(i));
  }
  if (layer_norm_) layer_norm_->declare(scope.scope("layer_norm"));
}

void Decoder::attend_to(const ConstView<2>& encoder_states, DecodingState& state,
                        Workspace& workspace) const {
  embed_positions_->reserve(1);  // and some more: the first steps allocate nothing
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Tensor<2>& kv = state.cache_.cross[i];
    layers_[i]->encoder_attn().keys_values(encoder_states, rows(kv, 0, kv.shape(0)), workspace);
  }
}

void Decoder::embed(const DecodingState& state, View<2> x) const {
  (*embed_tokens_)(state.ids_, x);
  embed_positions_->add_to(x, state.positions_);
}

View<2> Decoder::operator()(DecodingState& state, std::span<const Extension> extensions,
                            Workspace& workspace) const {
  const std::size_t n = extensions.size();
  const std::size_t first = state.tree().size();
  state.append(extensions);
  workspace.reserve_keys(state.most_keys());

  View<2> x = rows(workspace.states, 0, n);  // [R, D]
  embed(state, x);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    (*layers_[layer])(x, state.step(layer, first, n), workspace);
  }
  if (layer_norm_) (*layer_norm_)(const_view(x), x);
  return x;
}

}  // namespace glassformer
