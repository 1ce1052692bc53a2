#include <array>

#include "families/family.hpp"

// CLIP (Radford et al. 2021, "Learning Transferable Visual Models From Natural Language
// Supervision"): a Vision Transformer and a causal Transformer for texts, trained so that a picture
// and its caption have similar vectors.

namespace glassformer {
namespace {
namespace clip_parts {

constexpr std::array clip_types = {Family::Type{"clip", "CLIPTokenizer"}};

constexpr std::array clip_text_types = {Family::Type{"clip_text_model", "CLIPTokenizer"}};

constexpr std::array clip_tensors = {
    TensorName{"vision_model.embeddings.class_embedding", "encoder.class_token"},
    TensorName{"vision_model.embeddings.patch_embedding", "encoder.embed_patches"},
    TensorName{"vision_model.embeddings.position_embedding", "encoder.embed_positions"},
    TensorName{"vision_model.pre_layrnorm", "encoder.layernorm_embedding"},
    TensorName{"vision_model.encoder.layers.#.layer_norm1",
               "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"vision_model.encoder.layers.#.self_attn.q_proj",
               "encoder.layers.#.self_attn.q_proj"},
    TensorName{"vision_model.encoder.layers.#.self_attn.k_proj",
               "encoder.layers.#.self_attn.k_proj"},
    TensorName{"vision_model.encoder.layers.#.self_attn.v_proj",
               "encoder.layers.#.self_attn.v_proj"},
    TensorName{"vision_model.encoder.layers.#.self_attn.out_proj",
               "encoder.layers.#.self_attn.out_proj"},
    TensorName{"vision_model.encoder.layers.#.layer_norm2", "encoder.layers.#.final_layer_norm"},
    TensorName{"vision_model.encoder.layers.#.mlp.fc1", "encoder.layers.#.fc1"},
    TensorName{"vision_model.encoder.layers.#.mlp.fc2", "encoder.layers.#.fc2"},
    TensorName{"vision_model.post_layernorm", "encoder.layer_norm"},
    TensorName{"visual_projection", "modules.0"},
    TensorName{"text_model.embeddings.token_embedding", "text.encoder.embed_tokens"},
    TensorName{"text_model.embeddings.position_embedding", "text.encoder.embed_positions"},
    TensorName{"text_model.encoder.layers.#.layer_norm1",
               "text.encoder.layers.#.self_attn_layer_norm"},
    TensorName{"text_model.encoder.layers.#.self_attn.q_proj",
               "text.encoder.layers.#.self_attn.q_proj"},
    TensorName{"text_model.encoder.layers.#.self_attn.k_proj",
               "text.encoder.layers.#.self_attn.k_proj"},
    TensorName{"text_model.encoder.layers.#.self_attn.v_proj",
               "text.encoder.layers.#.self_attn.v_proj"},
    TensorName{"text_model.encoder.layers.#.self_attn.out_proj",
               "text.encoder.layers.#.self_attn.out_proj"},
    TensorName{"text_model.encoder.layers.#.layer_norm2", "text.encoder.layers.#.final_layer_norm"},
    TensorName{"text_model.encoder.layers.#.mlp.fc1", "text.encoder.layers.#.fc1"},
    TensorName{"text_model.encoder.layers.#.mlp.fc2", "text.encoder.layers.#.fc2"},
    TensorName{"text_model.final_layer_norm", "text.encoder.layer_norm"},
    TensorName{"text_projection", "text.modules.0"},
    TensorName{"logit_scale", "logit_scale"},
};

// The names of the text part alone. Newer files lack "text_model.", too.
constexpr std::string_view text_prefix = "text_model.";
constexpr auto clip_text_tensors = [] {
  constexpr std::string_view part = "text.";
  std::array<TensorName, 11> names;
  std::size_t count = 0;
  for (TensorName name : clip_tensors) {
    if (!name.theirs.starts_with(text_prefix)) continue;
    name.theirs.remove_prefix(text_prefix.size());
    name.ours.remove_prefix(part.size());
    names[count++] = name;
  }
  return names;
}();

constexpr std::array clip_text_heads = {TensorName{"text_projection", "modules.0"}};

constexpr std::array clip_heads = {TensorName{"classifier", "classifier"}};

constexpr std::array clip_picture_keys = {
    ConfigKey{"num_channels", "channels", "3"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"hidden_size", "d_model", "768"},
    ConfigKey{"num_attention_heads", "n_heads", "12"},
    ConfigKey{"intermediate_size", "d_ff", "3072"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-5"},
    ConfigKey{"hidden_act", "activation", "\"quick_gelu\""},
};

constexpr std::array clip_text_keys = {
    ConfigKey{"vocab_size", "vocab_size", "49408"},
    ConfigKey{"max_position_embeddings", "max_length", "77"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"hidden_size", "d_model", "512"},
    ConfigKey{"num_attention_heads", "n_heads", "8"},
    ConfigKey{"intermediate_size", "d_ff", "2048"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-5"},
    ConfigKey{"hidden_act", "activation", "\"quick_gelu\""},
};

// The end of the name of the class that has no texts.
constexpr std::string_view clip_classes = "ForImageClassification";

// Old files have each part twice. The second, if it is not null, replaces the first.
HubConfig clip_part(HubConfig& config, const char* key, const char* second) {
  return config.part(config.find(second) ? second : key);
}

StackConfig clip_stack(Mixer mixer) {
  StackConfig stack;
  LayerConfig layer;
  layer.mixer = mixer;
  layer.attention.bias = true;
  layer.attention.out_bias = true;
  stack.layers = {layer};
  stack.final_norm = true;
  return stack;
}

// Reads the part for texts. Its vector is that of a text's end.
void read_clip_texts(HubConfig& text, std::string_view layer_tensors, StackConfig& texts,
                     VectorConfig& vectors) {
  texts = clip_stack(Mixer::causal);
  texts.tokens().positions = PositionKind::learned;
  text.read(texts, {.keys = clip_text_keys, .layer_tensors = layer_tensors});

  // Before version 4.31, the id in the files was wrong, and the library took the largest id of a
  // text, which is that of the last token in the vocabulary.
  constexpr std::size_t wrong = 2;
  const std::size_t end = text.id("eos_token_id", 49407);
  vectors.end_id = static_cast<std::int32_t>(end == wrong ? texts.vocab_size() - 1 : end);
}

// Reads the part for texts alone, with or without its projection.
ModelConfig read_clip_text(HubConfig& config) {
  const bool projects = HubConfig::names_class(config.object(), "WithProjection");
  config.expect_architecture(projects ? "CLIPTextModelWithProjection" : "CLIPTextModel");
  ModelConfig model;
  StackConfig& texts = model.architecture.encoder.emplace();
  config.read_vectors(model);
  read_clip_texts(config, "encoder.layers.", texts, model.vectors);
  config.expect_end_token("eos_token_id", *model.vectors.end_id);
  model.vectors.poolings = {TokenPooling::last_token};
  if (projects) {
    model.architecture.head.modules = {{.kind = VectorModule::Kind::dense,
                                        .in = texts.d_model,
                                        .out = config.size("projection_dim", 512),
                                        .bias = false}};
  }
  config.finish(model);
  return model;
}

ModelConfig read_clip(HubConfig& config) {
  const bool classifies = HubConfig::names_class(config.object(), clip_classes);
  if (!classifies) config.expect_architecture("CLIPModel");
  ModelConfig model;
  HubConfig vision = clip_part(config, "vision_config", "vision_config_dict");
  StackConfig& pictures = model.architecture.encoder.emplace(clip_stack(Mixer::full));
  const auto [height, width] = vision.sides("image_size", 224);
  const auto [patch_height, patch_width] = vision.sides("patch_size", 32);
  pictures.input = PatchInput{.height = height,
                              .width = width,
                              .patch_height = patch_height,
                              .patch_width = patch_width,
                              .bias = false,
                              .norm = true};
  vision.read(pictures,
              {.keys = clip_picture_keys, .layer_tensors = "vision_model.encoder.layers."});

  if (classifies) {  // without texts, and without the norm after the last layer
    pictures.final_norm = false;
    config.read_picture_classes(model, Pooling::patches);
    config.finish(model);
    return model;
  }

  HubConfig text = clip_part(config, "text_config", "text_config_dict");
  read_clip_texts(text, "text_model.encoder.layers.", model.architecture.text_encoder.emplace(),
                  model.vectors);
  config.read_projections(model);
  config.finish(model);
  return model;
}

}  // namespace clip_parts
}  // namespace

extern const Family clip = {.model_types = clip_parts::clip_types,
                            .prefix = "",
                            .tensors = clip_parts::clip_tensors,
                            .heads = clip_parts::clip_heads,
                            .read = clip_parts::read_clip,
                            .pictures = PictureProcessor::clip,
                            .only_pictures = clip_parts::clip_classes};
extern const Family clip_text = {.model_types = clip_parts::clip_text_types,
                                 .prefix = clip_parts::text_prefix,
                                 .tensors = clip_parts::clip_text_tensors,
                                 .heads = clip_parts::clip_text_heads,
                                 .read = clip_parts::read_clip_text};

}  // namespace glassformer
