#include "models/dual_encoder.hpp"

#include <cmath>
#include <utility>

#include "models/model.hpp"
#include "models/stack/patch_embeddings.hpp"

namespace glassformer {
namespace {

Architecture part(const StackConfig& stack, std::size_t size) {
  Architecture part;
  part.encoder = stack;
  part.head = {
      .kind = HeadKind::vectors,
      .modules = {
          {.kind = VectorModule::Kind::dense, .in = stack.d_model, .out = size, .bias = false},
          {.kind = VectorModule::Kind::normalize}}};
  return part;
}

}  // namespace

Architecture picture_part(const Architecture& architecture) {
  return part(*architecture.encoder, architecture.head.outputs);
}

Architecture text_part(const Architecture& architecture) {
  return part(*architecture.text_encoder, architecture.head.outputs);
}

DualEncoder::DualEncoder(const Architecture& architecture, Compute compute)
    : pictures(picture_part(architecture), compute,
               std::make_unique<PatchEmbeddings>(*architecture.encoder, compute)),
      texts(text_part(architecture), compute) {}

std::vector<NamedParameter> DualEncoder::parameters() {
  std::vector<NamedParameter> parameters = pictures.parameters();
  for (NamedParameter& parameter : texts.parameters()) {
    parameter.name.insert(0, "text.");
    parameters.push_back(std::move(parameter));
  }
  ParameterScope(parameters).declare("logit_scale", {1}, logit_scale_);
  return parameters;
}

float DualEncoder::scale() const { return std::exp(*loaded(logit_scale_, "the scale of logits")); }

}  // namespace glassformer
