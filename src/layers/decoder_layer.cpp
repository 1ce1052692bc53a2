#include "layers/decoder_layer.hpp"

namespace glassformer {

void DecoderLayer::declare(const ParameterScope& scope) {
  parts_.self_attn->declare(scope.scope("self_attn"));
  parts_.self_attn_layer_norm->declare(scope.scope("self_attn_layer_norm"));
  parts_.encoder_attn->declare(scope.scope("encoder_attn"));
  parts_.encoder_attn_layer_norm->declare(scope.scope("encoder_attn_layer_norm"));
  parts_.feed_forward->declare(scope);
  parts_.final_layer_norm->declare(scope.scope("final_layer_norm"));
}

void PreNormDecoderLayer::operator()(View<2> x, const DecoderStep& step,
                                     Workspace& workspace) const {
  View<2> normed = rows(workspace.normed, 0, x.shape(0));  // [R, D]
  (*parts_.self_attn_layer_norm)(const_view(x), normed);
  parts_.self_attn->keys_values(const_view(normed), step.own_kv, workspace);
  parts_.self_attn->add_to(x, const_view(normed), step.self_attn, workspace);
  (*parts_.encoder_attn_layer_norm)(const_view(x), normed);
  parts_.encoder_attn->add_to(x, const_view(normed), step.encoder_attn, workspace);
  (*parts_.final_layer_norm)(const_view(x), normed);
  parts_.feed_forward->add_to(x, const_view(normed), workspace);
}

void PostNormDecoderLayer::operator()(View<2> x, const DecoderStep& step,
                                      Workspace& workspace) const {
  parts_.self_attn->keys_values(const_view(x), step.own_kv, workspace);
  parts_.self_attn->add_to(x, const_view(x), step.self_attn, workspace);
  (*parts_.self_attn_layer_norm)(const_view(x), x);
  parts_.encoder_attn->add_to(x, const_view(x), step.encoder_attn, workspace);
  (*parts_.encoder_attn_layer_norm)(const_view(x), x);
  parts_.feed_forward->add_to(x, const_view(x), workspace);
  (*parts_.final_layer_norm)(const_view(x), x);
}

}  // namespace glassformer
