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
/// What a text over the limit loses: its end, or its middle, so that a quarter of the limit is its
/// beginning and the rest its end, where reviews have their verdict.
enum class Clip { end, middle };
/// Which embeddings are one table: source, target and lm_head; target and lm_head; none.
enum class EmbeddingSharing { shared, tied, separate };

/// The content of a model folder's config.json. No defaults: the file states every choice.
struct ModelConfig {
  std::string model_type;      // "encoder_classifier" or "encoder_decoder"
  std::string task;            // "text-classification" or "translation"
  std::size_t vocab_size = 0;  // the encoder's: "source_vocab_size" where there is a decoder
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
  std::vector<std::string> prefix_tokens;  // pieces put before the text's own
  std::vector<std::string> suffix_tokens;

  // Of a classifier.
  std::vector<std::string> labels;  // one per class, in the order of the classifier's outputs
  Pooling pooling = Pooling::mean;
  Clip clip = Clip::end;

  // Of an encoder-decoder.
  std::string source_language, target_language;  // "en", "de"
  std::size_t target_vocab_size = 0;
  EmbeddingSharing embeddings = EmbeddingSharing::shared;
  std::size_t decoder_layers = 0;
  std::size_t max_target_length = 0;  // tokens fed to the decoder, start token included
  bool lm_head_bias = false;
  std::string start_token, end_token;  // pieces

  bool is_translation() const { return task == "translation"; }

  bool operator==(const ModelConfig&) const = default;
};

/// Throws Error: invalid_config for broken JSON, more bytes than config_limit, and unknown,
/// missing, mistyped or out-of-range fields; unsupported for an unknown model type or format
/// version, wrong_task for a task that is not the model type's. Accepted sizes keep every weight
/// matrix within 2^28 elements, so products of two sizes fit 32 bits.
ModelConfig parse_config(std::string_view json);

/// The configuration itself. Throws wrong_task unless it is of this task.
ModelConfig expect_task(ModelConfig config, std::string_view task);

/// The inverse of parse_config; the same text for equal configurations.
std::string to_json(const ModelConfig& config);

}  // namespace glassformer
