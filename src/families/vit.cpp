#include <array>

#include "families/family.hpp"

// The Vision Transformer (Dosovitskiy et al. 2021), and DeiT (Touvron et al. 2021), which has a
// second learned row before the patches, the distillation token. Both classify pictures.

namespace glassformer {
namespace {

constexpr std::array vit_types = {Family::Type{"vit", ""}};
constexpr std::array deit_types = {Family::Type{"deit", ""}};

constexpr std::array tensors = {
    TensorName{"embeddings.cls_token", "encoder.class_token"},
    TensorName{"embeddings.distillation_token", "encoder.distillation_token"},
    TensorName{"embeddings.position_embeddings", "encoder.embed_positions.weight"},
    TensorName{"embeddings.patch_embeddings.projection", "encoder.embed_patches"},
    TensorName{"encoder.layer.#.layernorm_before", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder.layer.#.attention.attention.query", "encoder.layers.#.self_attn.q_proj"},
    TensorName{"encoder.layer.#.attention.attention.key", "encoder.layers.#.self_attn.k_proj"},
    TensorName{"encoder.layer.#.attention.attention.value", "encoder.layers.#.self_attn.v_proj"},
    TensorName{"encoder.layer.#.attention.output.dense", "encoder.layers.#.self_attn.out_proj"},
    TensorName{"encoder.layer.#.layernorm_after", "encoder.layers.#.final_layer_norm"},
    TensorName{"encoder.layer.#.intermediate.dense", "encoder.layers.#.fc1"},
    TensorName{"encoder.layer.#.output.dense", "encoder.layers.#.fc2"},
    TensorName{"layernorm", "encoder.layer_norm"},
};

// The second name for our classifier is that of a model with a teacher.
constexpr std::array heads = {
    TensorName{"classifier", "classifier"},
    TensorName{"cls_classifier", "classifier"},
    TensorName{"distillation_classifier", "distillation_classifier"},
};

constexpr std::array keys = {
    ConfigKey{"num_channels", "channels", "3"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"hidden_size", "d_model", "768"},
    ConfigKey{"num_attention_heads", "n_heads", "12"},
    ConfigKey{"intermediate_size", "d_ff", "3072"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-12"},
    ConfigKey{"hidden_act", "activation", "\"gelu\""},
    ConfigKey{"qkv_bias", "attention_bias", "true"},
};

ModelConfig read(HubConfig& config, bool distillation_token) {
  const auto [height, width] = config.sides("image_size", 224);
  const auto [patch_height, patch_width] = config.sides("patch_size", 16);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace();
  stack.input = PatchInput{.height = height,
                           .width = width,
                           .patch_height = patch_height,
                           .patch_width = patch_width,
                           .distillation_token = distillation_token};
  LayerConfig layer;
  layer.attention.out_bias = true;
  stack.layers = {layer};
  stack.final_norm = true;
  config.read(stack, {.keys = keys, .layer_tensors = "encoder.layer."});
  config.read_picture_classes(model);
  config.finish(model);
  return model;
}

ModelConfig read_vit(HubConfig& config) { return read(config, false); }
ModelConfig read_deit(HubConfig& config) { return read(config, true); }

}  // namespace

extern const Family vit = {.model_types = vit_types,
                           .prefix = "vit.",
                           .tensors = tensors,
                           .heads = heads,
                           .read = read_vit,
                           .pictures = PictureProcessor::vit};

extern const Family deit = {.model_types = deit_types,
                            .prefix = "deit.",
                            .tensors = tensors,
                            .heads = heads,
                            .read = read_deit,
                            .pictures = PictureProcessor::deit};

}  // namespace glassformer
