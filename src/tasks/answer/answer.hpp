#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tasks/answer/answers.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// Finds the answer to a question in a text.
class AnswerPipeline final : public EncoderPipeline {
 public:
  using Typed = Answer;
  using Options = AnswerOptions;
  static constexpr std::array tasks = {Task::question_answering};

  /// Throws `wrong_task` unless the configuration describes a model that answers questions, and the
  /// errors of InputReader.
  AnswerPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                 Compute compute = Compute::f32);

  /// Starts answering questions. Each input is a question with the context as its pair.
  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<Answer>> begin(std::span<const TextInput> texts,
                                          const AnswerOptions& options);

  /// Answers one question. Throws `empty_input` if the question or the context has no tokens,
  /// `too_large` if the question leaves no space for the context, `invalid_option`, and
  /// `non_finite` if a logit is not a finite number.
  Answer answer(std::string_view question, std::string_view context,
                const AnswerOptions& options = {});

 private:
  class Answering;

  // Returns the windows of one question and context.
  std::vector<EncoderInput> windows(std::string_view question, std::string_view context,
                                    const AnswerOptions& options) const;
};

}  // namespace glassformer
