#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checkpoints/model_config.hpp"
#include "error.hpp"
#include "models/encoder_model.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

struct ClassifyOptions {
  bool attention = false;              ///< return every attention weight
  bool contributions = false;          ///< return what each token adds to each logit
  std::vector<HeadIndex> ablate = {};  ///< heads to silence
  /// Tokens to treat as padding; not the first one of a model that pools it.
  std::vector<std::size_t> mask_tokens = {};
};

struct Classification {
  std::size_t label;          ///< index of the most probable class
  std::vector<float> scores;  ///< probability of each class; they sum to 1
  std::vector<float> logits;  ///< before the softmax
  std::vector<Token> tokens;  ///< what the model read; offsets in UTF-16 units of the input
  bool clipped;               ///< the text was longer than the model's limit
  std::optional<AttentionMap> attention;
  std::vector<float> contributions;  ///< [tokens, classes]; empty if not asked for
};

/// Text to label: tokenize, run the encoder classifier, softmax.
class ClassifyPipeline {
 public:
  /// The longest text, in bytes. It is read word by word, and no more of it is kept than the model
  /// takes.
  static constexpr std::size_t max_text_bytes = 16 << 20;

  /// Throws `wrong_task` unless the configuration describes a classifier, `invalid_config` where a
  /// prefix or suffix token is not a piece, `invalid_tokenizer` where the vocabulary is too large.
  ClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                   Compute compute = Compute::f32);

  /// The model's parameters, for a WeightsLoader; a pipeline answers once all of them are set.
  std::vector<Parameter> parameters() { return model_.parameters(); }

  /// Throws `empty_input` for a text without tokens; `invalid_option` for a head or token that does
  /// not exist or a token that may not be masked; `too_large` for a text of over max_text_bytes,
  /// and where attention weights would take more than max_attention_bytes; `non_finite` where a
  /// logit is not a finite number. A text over the model's limit is clipped as the configuration
  /// says.
  Classification classify(std::string_view text, const ClassifyOptions& options = {});

  /// The same for several texts, in fewer and larger steps. One text's error leaves the others'
  /// results alone.
  std::vector<std::variant<Classification, Error>> classify_batch(
      std::span<const std::string_view> texts, const ClassifyOptions& options = {});

  const ModelConfig& config() const { return config_; }
  Compute compute() const { return model_.compute(); }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  struct Source {
    std::vector<Token> tokens;
    bool clipped;
  };
  Source read(std::string_view text) const;
  void check(const ClassifyOptions& options) const;
  void check_masks(const ClassifyOptions& options, std::size_t tokens) const;
  std::vector<std::variant<Classification, Error>> run(const Batch& batch,
                                                       const ClassifyOptions& options,
                                                       std::span<Source> sources);

  ModelConfig config_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::vector<std::int32_t> prefix_, suffix_;
  EncoderModel model_;
};

}  // namespace glassformer
