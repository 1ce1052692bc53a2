#include "tasks/generate/generate.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
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
    app.add_option("--max-new-tokens", options_.max_new_tokens,
                   "most tokens to write; where not given, as the folder says, or 64");
    app.add_option("--min-new-tokens", options_.min_new_tokens,
                   "least tokens to write before the text may end");
    app.add_option("--beams", options_.beams, "hypotheses followed at once, up to 64; 1: greedy");
    app.add_option("--length-penalty", options_.length_penalty,
                   "with beams: score = log-probability / tokens ^ this; -10 to 10, above 0 longer "
                   "texts win");
    add_early_stopping(app, options_.early_stopping);
    declare_sampling(app);
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

  // Declares the options for how the next token is chosen.
  void declare_sampling(CLI::App& app) {
    app.add_option("--temperature", options_.temperature,
                   "draw tokens; above 1 bolder, below 1 more careful, 0: do not draw; up to 1000");
    app.add_option("--top-k", options_.top_k,
                   "draw from so many most probable tokens; 0: from all");
    app.add_option("--top-p", options_.top_p,
                   "draw from the fewest tokens whose probabilities reach this; 0 to 1, 1: all");
    app.add_option("--seed", options_.seed, "of what is drawn: the same seed, the same text");
    app.add_option("--repetition-penalty", options_.repetition_penalty,
                   "above 1: tokens that were there become less probable; 1: as they are");
    app.add_option("--no-repeat-ngram-size", options_.no_repeat_ngram_size,
                   "so many tokens in a row come only once in a text; 0: as often as they like");
    const auto one_each = [](CLI::Option* option) {
      option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    };
    one_each(add_list(app, "--stop", options_.stop_strings,
                      "end with the token that makes the text contain this, which stays in it; may "
                      "be given several times; where not given, as the folder says"));
    one_each(add_list(app, "--bad-words", options_.bad_words,
                      "never write this, at the start or behind a space; may be given several "
                      "times; where not given, as the folder says"));
    add_list(app, "--suppress-tokens", options_.suppress_tokens, "ids never to write: ID,…")
        ->delimiter(',');
    add_list(app, "--begin-suppress-tokens", options_.begin_suppress_tokens,
             "ids not to write as the first token: ID,…")
        ->delimiter(',');
    app.add_option("--next", next_, "only show so many tokens that may come next; 0: all");
  }

  TaskArguments task_;
  bool no_prefix_ = false;
  std::optional<std::size_t> next_;  // number of candidates to list
  GenerateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace glassformer
