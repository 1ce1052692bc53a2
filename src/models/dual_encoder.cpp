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

std::unique_ptr<EncoderModel> DualEncoder::classifier(
    std::span<const std::vector<float>> vectors) const {
  const Linear& projection = pictures.modules().dense(0);
  const std::size_t width = projection.out();
  const HeadConfig config = {
      .outputs = vectors.size(),
      .pooling = Pooling::first,
      .dense = HeadDense{.activation = Activation::linear, .bias = false, .norm = true},
      .bias = false};
  // x / ‖x‖ is a norm without centering whose learned scale is 1 / √width.
  StackConfig stack = pictures.encoder().stack().config();
  stack.layer_norm = {.kind = NormKind::rms, .eps = 1e-24f};
  auto head = std::make_unique<SequenceHead>(config, stack, width);
  std::vector<NamedParameter> parameters;
  head->declare(ParameterScope(parameters));
  const NamedParameter &dense = parameters[0], &norm = parameters[1], &classes = parameters[2];
  std::vector<float> row(projection.in());
  for (std::size_t i = 0; i < width; ++i) {
    projection.copy_output(i, row);
    dense.set(row, i);
  }
  norm.set(std::vector<float>(width, 1.0f / std::sqrt(static_cast<float>(width))), 0);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    row = vectors[i];
    for (float& number : row) number *= scale();
    classes.set(row, i);
  }
  return std::make_unique<EncoderModel>(pictures, config, std::move(head));
}

float DualEncoder::scale() const { return std::exp(*loaded(logit_scale_, "the scale of logits")); }

}  // namespace glassformer
