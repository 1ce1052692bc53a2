#include "tasks/classify/classify.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class ClassifyCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    EncoderOptions& encoder = options_.encoder;
    add_model(app, task_.model.folder);
    CLI::Option* json = add_json(app, task_.json);
    add_attention(app, json, encoder.attention);
    app.add_flag("--contributions", encoder.contributions,
                 "with --json: what each token adds to each logit")
        ->needs(json);
    app.add_flag("--pairs", pairs_, "a line is two texts, with a tab between them");
    add_enum<ClassifyWindow>(
        app, "--window", options_.window,
        "how a line with more tokens than the model takes is read: first: it is cut; mean, "
        "max: in windows, and a score is the mean of the windows' scores, or the highest");
    add_stride(app, options_.stride);
    add_ablate(app, encoder.ablate, "heads to ablate: LAYER.HEAD,…, both from 0");
    add_positions(app, "--mask", encoder.mask_tokens,
                  "tokens to treat as padding: POSITION,…, from 0");
    add_run(app, task_);
  }

  Exit run() override {
    options_.encoder.patch = read_patches(task_.patch);
    return answer_with_options(
        *load_pipeline<ClassifyPipeline>(task_.model.folder, task_.model.options()),
        {.json = task_.json,
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
