#include "tasks/classify/classify.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class ClassifyCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_pairs(app, pairs_);
    add_flags(app, options_, {.json = json, .without = {"trace", "gradients"}});
    add_run(app, task_);
  }

  Exit run() override {
    options_.encoder.patch = read_patches(task_.patch);
    return answer_with_options(
        *load_pipeline<ClassifyPipeline>(task_.model.folder, task_.model.options()),
        {.json = task_.json,
         .quiet = task_.quiet,
         .attention = options_.encoder.attention,
         .form = pairs_ ? LineForm::pair : LineForm::text,
         .clipped_hint = "; --window mean and --window max read all of it"},
        options_, line_of);
  }

 private:
  // The label and its score.
  static OutputLine line_of(const Classification& result) {
    return {printable(result.label) + '\t' + six_decimals(result.score), result.clipped};
  }

  TaskArguments task_;
  bool pairs_ = false;
  ClassifyOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_classify_command() { return std::make_unique<ClassifyCommand>(); }

}  // namespace glassformer
