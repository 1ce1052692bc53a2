#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "error.hpp"
#include "pipelines/answers.hpp"
#include "pipelines/encoder_pipeline.hpp"

namespace glassformer {

struct AnswerPipelineOptions {
  EncoderOptions encoder = {};
  AnswerOptions answer = {};
};

/// {"maxSequenceLength": int, "docStride": int, "maxAnswerLength": int, "handleImpossibleAnswer":
/// bool} and "attention", "trace" and "ablate" of EncoderOptions, every field optional.
AnswerPipelineOptions parse_answer_options(std::string_view json);

/// An answer, and the window of the context that the model read it from.
struct AnsweredQuestion {
  Answer answer;
  std::vector<Token> tokens;  ///< of the window; offsets in UTF-16 units of their own text
  std::vector<bool> second;   ///< whether each is of the context
  std::optional<AttentionMap> attention;
  std::vector<TracedTensor> trace;
};

/// A question and a text that may answer it to the place in the text that does.
class AnswerPipeline final : public EncoderPipeline {
 public:
  /// Throws `wrong_task` unless the configuration describes a model that answers questions; what
  /// InputReader throws.
  AnswerPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                 Compute compute = Compute::f32);

  /// A text is a question and a context, with a tab between them.
  std::unique_ptr<Job> begin(std::span<const std::string_view> texts, std::string_view options,
                             ResultForm form) override;

  /// Throws `empty_input` where the question or the context has no tokens, `too_large` for a
  /// question that leaves the context no room, `invalid_option`, and `non_finite` where a logit is
  /// not a finite number.
  AnsweredQuestion answer(std::string_view question, std::string_view context,
                          const AnswerPipelineOptions& options = {});

 private:
  class Answering;

  // The windows of one question and context.
  std::vector<EncoderInput> windows(std::string_view question, std::string_view context,
                                    const AnswerOptions& options) const;
  // As text: "ANSWER<tab>SCORE"; or {answer, score, start, end, tokens: [{id, text, start, end,
  // sequence}], attention?, trace?}.
  Result to_result(AnsweredQuestion result, ResultForm form) const;
};

}  // namespace glassformer
