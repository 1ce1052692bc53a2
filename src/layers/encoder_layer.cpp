#include "layers/encoder_layer.hpp"

namespace glassformer {

void EncoderLayer::declare(const ParameterScope& scope) {
  parts_.self_attn->declare(scope.scope("self_attn"));
  parts_.self_attn_layer_norm->declare(scope.scope("self_attn_layer_norm"));
  parts_.feed_forward->declare(scope);
  parts_.final_layer_norm->declare(scope.scope("final_layer_norm"));
}

void PreNormEncoderLayer::operator()(View<2> x, const Batch& batch, const Inspection& inspection,
                                     Workspace& workspace) const {
  View<2> normed = rows(workspace.normed, 0, x.shape(0));  // [N, D]
  (*parts_.self_attn_layer_norm)(const_view(x), normed);
  parts_.self_attn->add_to(x, const_view(normed), batch, inspection, workspace);
  (*parts_.final_layer_norm)(const_view(x), normed);
  parts_.feed_forward->add_to(x, const_view(normed), workspace);
}

void PostNormEncoderLayer::operator()(View<2> x, const Batch& batch, const Inspection& inspection,
                                      Workspace& workspace) const {
  parts_.self_attn->add_to(x, const_view(x), batch, inspection, workspace);
  (*parts_.self_attn_layer_norm)(const_view(x), x);
  parts_.feed_forward->add_to(x, const_view(x), workspace);
  (*parts_.final_layer_norm)(const_view(x), x);
}

}  // namespace glassformer
