#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "error.hpp"
#include "pipelines/encoder_pipeline.hpp"

namespace glassformer {

using ClassifyOptions = EncoderOptions;

/// {"attention": bool, "contributions": bool, "pairs": bool, "trace": [name], "ablate":
/// [{"attention": "encoder", "layer": int, "head": int}], "maskTokens": [int]}, every field
/// optional. Throws `invalid_option` naming the field for anything else.
ClassifyOptions parse_classify_options(std::string_view json);

struct Classification {
  std::size_t label;          ///< index of the class with the highest score
  std::vector<float> scores;  ///< of each class, as ModelConfig::scoring says
  std::vector<float> logits;  ///< what they are made of
  std::vector<Token> tokens;  ///< what the model read; offsets in UTF-16 units of their text
  std::vector<bool> second;   ///< of a pair: whether each token is of its second text
  bool clipped;               ///< the text was longer than the model's limit
  std::optional<AttentionMap> attention;
  std::vector<TracedTensor> trace;
  std::vector<float> contributions;  ///< [tokens, classes]; empty if not asked for
};

/// Text, or two texts, to label.
class ClassifyPipeline final : public EncoderPipeline {
 public:
  using Typed = Classification;

  /// Throws `wrong_task` unless the configuration describes a classifier; what InputReader throws.
  ClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                   Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), Task::text_classification, std::move(tokenizer),
                        compute) {}

  std::unique_ptr<Job> begin(std::span<const std::string_view> texts, std::string_view options,
                             ResultForm form) override;
  std::unique_ptr<Job> begin(std::span<const std::string_view> texts,
                             const ClassifyOptions& options, ResultForm form);

  /// Throws what InputReader and Work throw, and `non_finite` where a logit is not a finite number.
  Classification classify(std::string_view text, const ClassifyOptions& options = {});

  /// The same for several texts, in fewer and larger steps. One text's error leaves the others'
  /// results alone.
  std::vector<std::variant<Classification, Error>> classify_batch(
      std::span<const std::string_view> texts, const ClassifyOptions& options = {});

  // For EncoderJob.
  EncoderInput read(std::string_view text, const ClassifyOptions& options) const;
  Classification answer(EncoderAnswer answer, std::string_view text,
                        const ClassifyOptions& options) const;
  /// As text: "LABEL<tab>SCORE"; or {label, score, scores, logits, tokens: [{id, text, start, end,
  /// sequence?}], clipped, attention?: {encoder}, contributions?, trace?}.
  Result to_result(Classification classification, ResultForm form) const;
};

}  // namespace glassformer
