#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tasks/answer/answers.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// {"maxSequenceLength": int, "docStride": int, "maxAnswerLength": int, "handleImpossibleAnswer":
/// bool} and "attention", "trace", "patch" and "ablate" of EncoderOptions, every field optional.
AnswerOptions parse_answer_options(const TaskOptions& task);

/// A question and a text that may answer it to the place in the text that does.
class AnswerPipeline final : public EncoderPipeline {
 public:
  static constexpr std::array tasks = {Task::question_answering};

  /// Throws `wrong_task` unless the configuration describes a model that answers questions; what
  /// InputReader throws.
  AnswerPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                 Compute compute = Compute::f32);

  /// A text is a question, and its pair the context.
  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                             ResultForm form) override;

  /// Throws `empty_input` where the question or the context has no tokens, `too_large` for a
  /// question that leaves the context no room, `invalid_option`, and `non_finite` where a logit is
  /// not a finite number.
  Answer answer(std::string_view question, std::string_view context,
                const AnswerOptions& options = {});

 private:
  class Answering;

  // The windows of one question and context.
  std::vector<EncoderInput> windows(std::string_view question, std::string_view context,
                                    const AnswerOptions& options) const;
  // As text: "ANSWER<tab>SCORE"; or {answer, score, start, end, tokens: [{id, text, start, end,
  // sequence}], attention?, trace?}.
  Result to_result(Answer result, ResultForm form) const;
};

}  // namespace glassformer
