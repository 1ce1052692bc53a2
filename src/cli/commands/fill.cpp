#include "tasks/fill/fill.hpp"

#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class FillCommand final : public Command {
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
        *load_pipeline<FillPipeline>(task_.model.folder, task_.model.options()),
        {.json = task_.json, .quiet = task_.quiet, .attention = options_.encoder.attention},
        options_, line_of);
  }

 private:
  // The tokens and scores of each mask.
  static OutputLine line_of(const FilledText& result) {
    std::string line;
    for (const FilledMask& mask : result.masks) {
      for (const FilledToken& answer : mask.answers) {
        if (!line.empty()) line += '\t';
        line.append(printable(answer.token)).append("\t").append(six_decimals(answer.score));
      }
    }
    return {std::move(line), result.clipped};
  }

  TaskArguments task_;
  FillOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_fill_command() { return std::make_unique<FillCommand>(); }

}  // namespace glassformer
