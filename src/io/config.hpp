#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

enum class PositionKind { sinusoidal, learned };
enum class NormPlacement { pre, post };
/// unbiased: standard deviation over n - 1, eps added to it outside the root.
enum class LayerNormKind { standard, unbiased };
enum class AttentionType { full, local, linear };
enum class Activation { relu, gelu };
enum class Pooling { mean, first };

/// The content of a model folder's config.json. No defaults: the file states every choice.
struct ModelConfig {
  std::string model_type;           // "encoder_classifier"
  std::string task;                 // "text-classification"
  std::vector<std::string> labels;  // one per class, in the order of the classifier's outputs
  std::size_t vocab_size = 0;
  std::size_t d_model = 0;
  std::size_t d_ff = 0;
  std::size_t n_heads = 0;  // divides d_model
  std::size_t encoder_layers = 0;
  std::size_t max_source_length = 0;  // tokens, prefix and suffix included
  PositionKind positions = PositionKind::sinusoidal;
  bool scale_embedding = false;  // multiply embeddings by sqrt(d_model)
  NormPlacement norm = NormPlacement::pre;
  LayerNormKind layer_norm = LayerNormKind::standard;
  float layer_norm_eps = 0;
  bool final_norm = false;  // LayerNorm after the last layer
  AttentionType attention = AttentionType::full;
  std::size_t attention_window = 0;  // local only: a query sees keys at most this far away
  bool attention_bias = false;       // biases in the q, k, v and out projections
  Activation activation = Activation::relu;
  Pooling pooling = Pooling::mean;
  std::vector<std::string> prefix_tokens;  // pieces put before the text's own
  std::vector<std::string> suffix_tokens;

  bool operator==(const ModelConfig&) const = default;
};

/// Throws Error: invalid_config for broken JSON and for unknown, missing, mistyped or out-of-range
/// fields; wrong_task or unsupported for a task, model type or format version of another kind.
/// Accepted sizes keep every weight matrix within 2^28 elements, so products of two sizes fit 32
/// bits.
ModelConfig parse_config(std::string_view json);

/// The inverse of parse_config; the same text for equal configurations.
std::string to_json(const ModelConfig& config);

}  // namespace glassformer
