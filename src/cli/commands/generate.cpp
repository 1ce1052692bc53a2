#include "tasks/generate/generate.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/generate_arguments.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class GenerateCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    app.add_option("--task", options_.task,
                   "use the folder's settings and prefix for this task, such as summarization; "
                   "inspect lists them under task_specific_params");
    app.add_flag("--no-prefix", no_prefix_,
                 "leave out the prefix that the folder puts before each line");
    add_lengths(app, options_, usual_new_tokens);
    app.add_option("--beams", options_.beams, "hypotheses followed at once, up to 64; 1: greedy");
    app.add_option("--length-penalty", options_.length_penalty,
                   "with beams: score = log-probability / tokens ^ this; -10 to 10, above 0 longer "
                   "texts win");
    add_early_stopping(app, options_.early_stopping);
    add_sampling(app, options_);
    app.add_option("--next", next_, "only show so many tokens that may come next; 0: all");
    CLI::Option* json = add_json(app, task_.json);
    add_attention(app, json, options_.attention);
    app.add_flag("--hypotheses", options_.hypotheses,
                 "with --json and --beams: the other continuations")
        ->needs(json);
    add_ablate(app, options_.ablate,
               "heads to ablate: decoder.LAYER.HEAD,…; encoder, cross where there is an encoder");
    add_run(app, task_);
  }

  Exit run() override {
    const auto pipeline =
        load_pipeline<GeneratePipeline>(task_.model.folder, task_.model.options());
    const AnswerLines how = {.json = task_.json, .attention = options_.attention, .at_once = 1};
    options_.prefix = !no_prefix_;
    options_.patch = read_patches(task_.patch);
    const auto line = [](const auto& result) { return line_of(result); };
    if (!next_) return answer_with_options(*pipeline, how, options_, line);
    NextOptions next;
    next.count = *next_;
    static_cast<TaskPromptOptions&>(next) = options_;
    static_cast<SampleOptions&>(next) = options_;
    static_cast<DecoderOptions&>(next) = options_;
    return answer_with_options(*pipeline, how, next, line);
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

  TaskArguments task_;
  bool no_prefix_ = false;
  std::optional<std::size_t> next_;  // number of candidates to list
  GenerateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace glassformer
