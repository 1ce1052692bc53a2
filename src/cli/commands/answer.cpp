#include "tasks/answer/answer.hpp"
#include "base/strings/decimal.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class AnswerCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_flags(app, options_, {.json = json, .without = {"trace", "gradients", "gradient_token"}});
    add_run(app, task_);
  }

  Exit run() override {
    options_.encoder.patch = read_patches(task_.patch);
    return answer_with_options(
        *load_pipeline<AnswerPipeline>(task_.model.folder, task_.model.options()),
        {.json = task_.json,
         .quiet = task_.quiet,
         .attention = options_.encoder.attention,
         .form = LineForm::pair},
        options_, line_of);
  }

 private:
  // The answer and its score.
  static OutputLine line_of(const Answer& result) {
    std::string text = result.answer;
    std::ranges::replace_if(
        text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return {text + '\t' + six_decimals(result.score)};
  }

  TaskArguments task_;
  AnswerOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_answer_command() { return std::make_unique<AnswerCommand>(); }

}  // namespace glassformer
