#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "tasks/tag/token_classify.hpp"

namespace glassformer {
namespace {

class NerCommand final : public Command {
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
        *load_pipeline<TokenClassifyPipeline>(task_.model.folder, task_.model.options()),
        {.json = task_.json, .quiet = task_.quiet, .attention = options_.encoder.attention},
        options_, line_of);
  }

 private:
  // Each entity's label, words and score.
  static OutputLine line_of(const TokenClassification& result) {
    std::string line;
    for (const Entity& entity : result.entities) {
      if (!line.empty()) line += '\t';
      line.append(printable(entity.entity))
          .append("\t")
          .append(entity.word)
          .append("\t")
          .append(six_decimals(entity.score));
    }
    return {std::move(line), result.clipped};
  }

  TaskArguments task_;
  TokenClassifyOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_ner_command() { return std::make_unique<NerCommand>(); }

}  // namespace glassformer
