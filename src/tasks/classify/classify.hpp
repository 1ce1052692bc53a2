#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/classify.hpp"
#include "base/error.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// Labels a text, or a pair of texts.
class ClassifyPipeline final : public EncoderPipeline {
 public:
  using Typed = Classification;
  using Options = ClassifyOptions;
  static constexpr std::array tasks = {Task::text_classification};

  /// Throws `wrong_task` unless the configuration describes a classifier, and the errors of
  /// InputReader.
  ClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                   Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {}

  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<Classification>> begin(std::span<const TextInput> texts,
                                                  const ClassifyOptions& options);

  /// Classifies a text, or a pair of texts. Throws the errors of InputReader and Batches, and
  /// `non_finite` if a logit is not a finite number.
  Classification classify(const TextInput& text, const ClassifyOptions& options = {});

  /// Classifies several texts, in fewer and larger steps. An error in one text does not affect the
  /// others.
  Results<Classification> classify_batch(std::span<const TextInput> texts,
                                         const ClassifyOptions& options = {});

  // Called by EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const ClassifyOptions& options) const;
  Classification answer(std::vector<EncoderAnswer> windows, std::string_view text,
                        const ClassifyOptions& options) const;
  AnswerTerms explained(const EncoderInput& input, const ConstView& logits,
                        const ClassifyOptions& options) const;
  void write_fields(ResultWriter& writer, Classification& result) const {
    fields(writer, result, config().labels);
  }

 private:
  // Throws `invalid_option` for a stride that does not fit.
  void check(const ClassifyOptions& options) const;
  // Throws `non_finite`, naming the label.
  void expect_finite(std::span<const float> logits) const;
};

}  // namespace glassformer
