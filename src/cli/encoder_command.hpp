#pragma once

#include <iostream>

#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {

/// A command that answers lines with an encoder. Its flags are the options of the task.
template <class TaskPipeline, class Options, class Result>
class EncoderCommand final : public Command {
 public:
  /// `line_of`: returns the line that shows a result.
  explicit EncoderCommand(OutputLine (*line_of)(const Result&), LineForm form = LineForm::text)
      : line_of_(line_of), form_(form) {}

  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_flags(app, options_, {.json = json, .without = {"trace", "gradients", "gradient_token"}});
    add_run(app, task_);
  }

  Exit run() override {
    const auto pipeline = load_pipeline<TaskPipeline>(task_.model.folder, task_.model.options());
    if (!pipeline->config().unused_head.empty()) {
      std::cerr << "glassformer: warning: " << unused_head_note(pipeline->config()) << '\n';
    }
    options_.encoder.patch = read_patches(task_.patch);
    return answer_with_options(*pipeline,
                               {.json = task_.json,
                                .quiet = task_.quiet,
                                .attention = options_.encoder.attention,
                                .form = form_},
                               options_, line_of_);
  }

 private:
  OutputLine (*line_of_)(const Result&);
  LineForm form_;
  TaskArguments task_;
  Options options_;
};

}  // namespace glassformer
