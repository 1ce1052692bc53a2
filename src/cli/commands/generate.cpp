#include "tasks/generate/generate.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class GenerateCommand final : public Command {
 public:
  // `summarizes`: texts are summarized, by models that do.
  explicit GenerateCommand(bool summarizes) : summarizes_(summarizes) {}

  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_flags(app, options_, {.json = json, .without = {"trace", "stream", "keep"}});
    if (!summarizes_) {
      app.add_option("--next", next_, "Only show this many tokens that may come next. 0: all.");
    }
    add_run(app, task_);
  }

  Exit run() override {
    const std::unique_ptr<Pipeline> opened = load_pipeline(
        task_.model.folder,
        summarizes_ ? std::span<const Task>(summarizers) : std::span(GeneratePipeline::tasks),
        task_.model.options());
    auto& pipeline = static_cast<GeneratePipeline&>(*opened);
    if (summarizes_) options_ = summarizing(std::move(options_), pipeline.config());
    const AnswerLines settings = {
        .json = task_.json, .quiet = task_.quiet, .attention = options_.attention, .at_once = 1};
    options_.patch = read_patches(task_.patch);
    const auto line = [](const auto& result) { return line_of(result); };
    if (!next_) return answer_with_options(pipeline, settings, options_, line);
    NextOptions next;
    next.count = *next_;
    static_cast<TaskPromptOptions&>(next) = options_;
    static_cast<SampleOptions&>(next) = options_;
    static_cast<DecoderOptions&>(next) = options_;
    return answer_with_options(pipeline, settings, next, line);
  }

 private:
  static OutputLine line_of(const Generation& result) {
    return {on_one_line(result.output.text), result.clipped};
  }

  // Each candidate and its probability.
  static OutputLine line_of(const Prediction& result) {
    std::string line;
    for (const NextToken& token : result.next) {
      line.append(line.empty() ? "" : "\t").append(on_one_line(token.text)).append(" ");
      line += six_decimals(token.probability);
    }
    return {std::move(line), result.clipped};
  }

  bool summarizes_;
  TaskArguments task_;
  std::optional<std::size_t> next_;  // number of candidates to list
  GenerateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() {
  return std::make_unique<GenerateCommand>(false);
}
std::unique_ptr<Command> make_summarize_command() {
  return std::make_unique<GenerateCommand>(true);
}

}  // namespace glassformer
