#include "tasks/image/image.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/files/picture_file.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "tasks/match/match.hpp"

namespace glassformer {
namespace {

// Classifies picture files.
class ImageCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    app.add_option("FILE", paths_, "Pictures: PNG, JPEG or WebP.")->required();
    CLI::Option* json = add_json(app, task_.json);
    add_flags(app, options_, {.json = json, .without = {"trace", "gradients"}});
    app.get_option("--top-k")->needs(json);
    add_flags(app, match_, {.only = {"labels", "hypothesis_template"}});
    add_patch(app, task_.patch);
    add_compute(app, task_.model.compute);
    add_threads(app, task_.model.threads);
  }

  Exit run() override {
    options_.interpolate |= options_.size.has_value();
    options_.encoder.patch = read_patches(task_.patch);
    static constexpr std::array tasks = {Task::image_classification,
                                         Task::zero_shot_image_classification};
    const auto pipeline = load_pipeline(task_.model.folder, tasks, task_.model.options());
    if (pipeline->config().task == Task::image_classification) {
      if (!match_.labels.empty()) {
        refuse_option("labels", "expected a model that compares pictures with texts");
      }
      return run(static_cast<ImagePipeline&>(*pipeline), options_);
    }
    if (options_.top_k || options_.encoder.contributions) {
      refuse_option({"{}, {}: expected a model with labels of its own",
                     {Field("top_k"), Field("contributions")}});
    }
    if (match_.labels.empty()) refuse_option("labels", "expected at least one, got none");
    match_.encoder = options_.encoder;
    match_.interpolate = options_.interpolate;
    match_.size = options_.size;
    return run(static_cast<MatchPipeline&>(*pipeline), match_);
  }

 private:
  template <class OnePipeline, class Options>
  Exit run(OnePipeline& pipeline, const Options& options) const {
    pipeline.begin(std::span<const Picture>(), options);  // rejects bad options first
    Exit exit = Exit::ok;
    for (const std::string& path : paths_) {
      try {
        print(pipeline, read_picture(path), options);
      } catch (const Error& error) {
        exit = Exit::bad_input;
        std::cerr << "glassformer: " << printable(path) << ": " << error.what() << '\n';
        if (task_.json) {
          std::cout << to_json(error) << '\n';
        } else {
          std::cout << "error\t" << to_string(error.code()) << '\n';
        }
      }
      std::cout.flush();
    }
    return exit;
  }

  // Prints the label and its score, or the JSON of the result.
  template <class OnePipeline, class Options>
  void print(OnePipeline& pipeline, const Picture& picture, const Options& options) const {
    const auto job = pipeline.begin(std::span(&picture, 1), options);
    const auto outputs = outputs_of(*job, task_.json, [](const auto& result) {
      return OutputLine{printable(result.label) + '\t' + six_decimals(result.score)};
    });
    if (const Error* error = std::get_if<Error>(&outputs[0])) throw Error(*error);
    std::cout << std::get<OutputLine>(outputs[0]).text << '\n';
  }

  TaskArguments task_;
  std::vector<std::string> paths_;
  ImageOptions options_;
  MatchOptions match_;
};

}  // namespace

std::unique_ptr<Command> make_image_command() { return std::make_unique<ImageCommand>(); }

}  // namespace glassformer
