#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "glassformer/classifier.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// {"contributions": bool, "window": "first" | "mean" | "max", "stride": int} and what
/// read_encoder_options reads, every field optional. Throws `invalid_option` naming the field for
/// anything else.
ClassifyOptions parse_classify_options(const TaskOptions& task);

/// Text, or two texts, to label.
class ClassifyPipeline final : public EncoderPipeline {
 public:
  using Typed = Classification;
  static constexpr std::array tasks = {Task::text_classification};

  /// Throws `wrong_task` unless the configuration describes a classifier; what InputReader throws.
  ClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                   Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {}

  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                             ResultForm form) override;
  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const ClassifyOptions& options,
                             ResultForm form);

  /// Throws what InputReader and Work throw, and `non_finite` where a logit is not a finite number.
  Classification classify(const TextInput& text, const ClassifyOptions& options = {});

  /// The same for several texts, in fewer and larger steps. One text's error leaves the others'
  /// results alone.
  std::vector<std::variant<Classification, Error>> classify_batch(
      std::span<const TextInput> texts, const ClassifyOptions& options = {});

  // For EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const ClassifyOptions& options) const;
  Classification answer(std::vector<EncoderAnswer> windows, std::string_view text,
                        const ClassifyOptions& options) const;
  /// As text: "LABEL<tab>SCORE"; or {label, score, scores, logits, tokens: [{id, text, start, end,
  /// sequence?}], windows, clipped, attention?: {encoder}, contributions?, trace?}.
  Result to_result(Classification classification, ResultForm form) const;

 private:
  // Throws `invalid_option` for a stride that does not fit.
  void check(const ClassifyOptions& options) const;
  // Throws `non_finite`, naming the label.
  void expect_finite(std::span<const float> logits) const;
};

}  // namespace glassformer
