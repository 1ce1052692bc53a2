#include "families/config/config_items.hpp"
#include "families/linked.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_modules = 64;

void module_fields(Fields& visitor, VectorModule& module) {
  enum_field(visitor, "kind", module.kind);
  if (module.kind == VectorModule::Kind::normalize) return;
  visitor.size("in", module.in, {.most = max_width});
  if (module.kind == VectorModule::Kind::layer_norm) {
    module.out = module.in;
    return;
  }
  visitor.size("out", module.out, {.most = max_width});
  visitor.flag("bias", module.bias);
  enum_field(visitor, "activation", module.activation);
}

void vector_fields(ConfigFields& visitor, ModelConfig& config) {
  VectorConfig& vectors = config.vectors;
  items(visitor, "poolings", vectors.poolings, {.most = 6}, "an array of one to six names",
        [&](TokenPooling& pooling) { enum_field(visitor, "", pooling); });
  visitor.flag("normalize", vectors.normalize);
  enum_field(visitor, "similarity", vectors.similarity, Similarity::cosine);
  std::vector<VectorModule>& modules = config.architecture.head.modules;
  if (visitor.has("modules", !modules.empty())) {
    items(visitor, "modules", modules, {.least = 0, .most = max_modules},
          "an array of at most 64 modules",
          [&](VectorModule& module) { module_fields(visitor, module); });
  }
  visitor.text_map("prompts", vectors.prompts);
  if (visitor.has("default_prompt", !vectors.default_prompt.empty())) {
    visitor.text("default_prompt", vectors.default_prompt);
  }
  visitor.flag("include_prompt", vectors.include_prompt, AbsentFlag::on);
  text_end_field(visitor, vectors.end_id);
}

}  // namespace

void reading_fields(ConfigFields& visitor, ModelConfig& config) {
  HeadConfig& head = config.architecture.head;
  const bool classifies = head.kind == HeadKind::sequence_classes;
  if (classifies) enum_field(visitor, "pooling", head.pooling);
  if (config.architecture.decoder) {
    id_field(visitor, "start_id", config.architecture.start_id);
  }
  if (head.kind == HeadKind::vectors) vector_fields(visitor, config);
  if (head.kind == HeadKind::masked_tokens) {
    enum_field(visitor, "embeddings", config.architecture.embeddings);
  }
  if (classifies) enum_field(visitor, "scoring", config.scoring, Scoring::softmax);
  optional_field(visitor, "head_dense", head.dense, [&](HeadDense& dense) {
    enum_field(visitor, "head_dense", dense.activation);
    visitor.flag("head_dense_bias", dense.bias, AbsentFlag::on);
    visitor.flag("head_norm", dense.norm, AbsentFlag::off);
  });
  if (reads_pictures(config)) {
    visitor.flag("distilled", head.distilled, AbsentFlag::off);
  }
  visitor.flag("head_bias", head.bias, AbsentFlag::on);
  if (!reads_pictures(config)) enum_field(visitor, "clip", config.clip);
}

}  // namespace glassformer
