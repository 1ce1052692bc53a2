#include "tasks/embed/embed.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class EmbedCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_flags(app, options_, {.json = json, .without = {"trace", "gradients", "gradient_token"}});
    add_run(app, task_);
  }

  Exit run() override {
    const auto pipeline = load_pipeline<EmbedPipeline>(task_.model.folder, task_.model.options());
    const ModelConfig& config = pipeline->config();
    if (!config.unused_head.empty()) {
      std::cerr << "glassformer: warning: " << unused_head_note(config) << '\n';
    }
    options_.encoder.patch = read_patches(task_.patch);
    return answer_with_options(
        *pipeline,
        {.json = task_.json, .quiet = task_.quiet, .attention = options_.encoder.attention},
        options_, line_of);
  }

 private:
  // The vector's numbers.
  static OutputLine line_of(const Embedded& result) {
    std::string line;
    for (const float number : result.embedding) {
      JsonWriter text;
      text.value(number);
      line.append(line.empty() ? "" : " ").append(text.take());
    }
    return {std::move(line), result.clipped};
  }

  TaskArguments task_;
  EmbedOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_embed_command() { return std::make_unique<EmbedCommand>(); }

}  // namespace glassformer
