#include "tasks/explain/explain.hpp"
#include "cli/explanation_line.hpp"
#include "cli/files/picture_file.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "tasks/explain/explain_next_gradients.hpp"

namespace glassformer {
namespace {

constexpr std::array answers = {Answered::text, Answered::picture, Answered::translation,
                                Answered::next_token};

class ExplainCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, model_.folder);
    app.add_option("--method", request_.method, "How to explain the answer: see below.")
        ->check(CLI::IsMember(methods().names))
        ->required();
    add_json(app, json_);
    add_quiet(app, quiet_);
    add_flags(app, request_,
              {.without = {"method", "on_progress", "hypothesis_template", "interpolate"}});
    app.get_option("--of")->check(CLI::IsMember(score_methods()));
    app.get_option("--least")->check(CLI::Range(0.01, 1.0));
    add_template(app, template_)->needs(app.get_option("--labels"));
    app.add_flag("--interpolate", interpolate_, Flags::help(about_interpolate));
    add_edges(app, request_.edges, "The edges to cut, LAYER.HEAD.QUERY.KEY,…");
    add_flags(app, next_, {.only = {"names", "baseline_token"}});
    add_pairs(app, pairs_);
    add_compute(app, model_.compute);
    add_threads(app, model_.threads);
    std::string list = "Methods:\n";
    for (const ExplanationMethod& method : explanation_methods()) {
      list.append("  ").append(method.name).append("\n");
    }
    app.footer(list +
               "glassformer explain METHOD --help shows what a method does, and its options.");
  }

  Parts parts() const override { return methods(); }

  void narrow(CLI::App& app, const std::string& part) override {
    const ExplanationMethod& method = *find_method(part);
    app.description(method.help);
    app.name("explain " + part);
    app.footer("");
    const std::array<std::string_view, 7> always = {"MODEL_DIR", "--help",    "--json", "--quiet",
                                                    "--compute", "--threads", "--pairs"};
    for (CLI::Option* const option : app.get_options()) {
      const std::string flag = option->get_name();
      const auto has = [&](Answered answer) {
        return method.has(answer,
                          underscored(flag.starts_with("--no-") ? flag.substr(5) : flag.substr(2)));
      };
      if (std::ranges::find(always, flag) != always.end()) continue;
      if (std::ranges::none_of(answers, has)) app.remove_option(option);
    }
  }

  Exit run() override {
    const auto loaded = load_pipeline<Pipeline>(model_.folder, model_.options());
    Pipeline& pipeline = *loaded;
    if (request_.labels) request_.hypothesis_template = template_;
    if (interpolate_) request_.interpolate = true;
    // If the model reads pictures, a line is the path of a file.
    const bool pairs = pairs_ || request_.method == "activation_patching";  // which has two texts
    const AnswerLines settings = {.json = json_,
                                  .quiet = quiet_,
                                  .at_once = 1,
                                  .form = pairs ? LineForm::pair : LineForm::text};
    const Task task = pipeline.config().task;
    const bool classifies = task == Task::text_classification || reads_pictures(pipeline.config());
    if (request_.method == "gradients" || (!classifies && explains_by_gradients(request_.method))) {
      NextGradientsRequest request = next_gradients_request(request_);
      request.names = next_.names;
      request.baseline_token = next_.baseline_token;
      return answer_lines(
          pipeline, settings,
          [&](std::span<const TextInput> texts) {
            return begin_next_gradients(pipeline, texts, request);
          },
          next_gradients_line);
    }
    if (!next_.names.empty() || next_.baseline_token) {
      refuse_option({"{}, {}: expected the gradients of a next token",
                     {Field("names"), Field("baseline_token")}});
    }
    return answer_lines(
        pipeline, settings,
        [&](std::span<const TextInput> lines) {
          if (!reads_pictures(pipeline.config())) {
            return begin_explanation(pipeline, TaskInputs(lines), request_);
          }
          const std::vector<Picture> pictures = read_pictures(lines);
          return begin_explanation(pipeline, TaskInputs(pictures), request_);
        },
        explanation_line);
  }

 private:
  static Parts methods() {
    Parts parts = {.option = "--method", .names = {}};
    for (const ExplanationMethod& method : explanation_methods()) {
      parts.names.emplace_back(method.name);
    }
    return parts;
  }

  static std::vector<std::string> score_methods() {
    std::vector<std::string> names;
    for (const ExplanationMethod& method : explanation_methods()) {
      if (method.scores) names.emplace_back(method.name);
    }
    return names;
  }

  // Returns the name of a flag's option.
  static std::string underscored(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
  }

  ModelArguments model_;
  ExplainRequest request_;
  NextGradientsRequest next_;  // only names and baseline_token
  std::string template_ = MatchOptions().hypothesis_template;
  bool json_ = false, quiet_ = false, pairs_ = false, interpolate_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace glassformer
