#include "tasks/translate/translate.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 512;  // per thread: enough for batches of similar lengths

class TranslateCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    app.add_flag("--shortlist", shortlist_,
                 "Consider only tokens that the folder's shortlist.bin offers: faster.");
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_flags(app, options_, {.json = json, .without = {"trace", "stream"}});
    add_run(app, task_);
  }

  Exit run() override {
    options_.patch = read_patches(task_.patch);
    LoadOptions options = task_.model.options();
    options.shortlist = shortlist_;
    return answer_with_options(*load_pipeline<TranslatePipeline>(task_.model.folder, options),
                               {.json = task_.json,
                                .quiet = task_.quiet,
                                .attention = options_.attention,
                                .at_once = lines_at_once,
                                .error = ErrorLine::empty},
                               options_, line_of);
  }

 private:
  static OutputLine line_of(const Translation& result) {
    return {result.text, std::ranges::any_of(result.sentences, &SentenceTranslation::clipped)};
  }

  TaskArguments task_;
  bool shortlist_ = false;
  TranslateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_translate_command() { return std::make_unique<TranslateCommand>(); }

}  // namespace glassformer
