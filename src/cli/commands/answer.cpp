#include "tasks/answer/answer.hpp"
#include "base/strings/decimal.hpp"
#include "cli/encoder_command.hpp"

namespace glassformer {
namespace {

// The answer and its score.
OutputLine answer_line(const Answer& result) {
  std::string text = result.answer;
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return {text + '\t' + six_decimals(result.score)};
}

}  // namespace

std::unique_ptr<Command> make_answer_command() {
  return std::make_unique<EncoderCommand<AnswerPipeline, AnswerOptions, Answer>>(answer_line,
                                                                                 LineForm::pair);
}

}  // namespace glassformer
