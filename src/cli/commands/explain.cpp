#include "tasks/explain/explain.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "cli/explanation_line.hpp"
#include "cli/files/picture_file.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "tasks/explain/feature_explanation.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/explain/score_explanation.hpp"
#include "tasks/load.hpp"

namespace glassformer {
namespace {

// Returns what a method computes, up to its paper, in indented lines.
std::string in_short(std::string_view help) {
  constexpr std::size_t width = 94;
  std::string_view rest = help.substr(0, std::min(help.find(" ("), help.find('.')));
  std::string lines;
  while (!rest.empty()) {
    const std::size_t end = rest.size() <= width ? rest.size() : rest.rfind(' ', width);
    lines.append("      ").append(rest.substr(0, end)).append("\n");
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return lines;
}

class ExplainCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    add_model(app, model_.folder);
    app.add_option("--method", method_, "How to explain the answer: see below.")
        ->check(CLI::IsMember(methods().names))
        ->required();
    add_json(app, json_);
    add_quiet(app, quiet_);
    add_pairs(app, pairs_);
    app.add_option("--dictionaries", dictionaries_,
                   "The folder of the model's dictionaries, which glassformer train --lessons "
                   "dictionary writes.");
    add_compute(app, model_.compute);
    add_threads(app, model_.threads);
    for (const CLI::Option* const option : app.get_options()) always_.insert(option->get_name());
    add_flags(app, options_, {.without = {"on_progress", "patch"}});
    std::string list = "Methods:\n";
    for (const ExplanationMethod& method : explanation_methods()) {
      list.append("  ").append(method.name).append("\n").append(in_short(method.help));
    }
    app.footer(list + "glassformer explain METHOD --help shows the options of a method.");
  }

  Parts parts() const override { return methods(); }

  void narrow(CLI::App& app, const std::string& part) override {
    std::vector<std::string> names;
    if (const ExplanationMethod* const method = find_method(part)) {
      app.description(method->help);
      app.name("explain " + part);
      app.footer("");
      app.remove_option(app.get_option("--method"));
      if (!method->dictionaries) app.remove_option(app.get_option("--dictionaries"));
      for (const Answered answered : all_answered) {
        std::ranges::move(option_names(*method, answered), std::back_inserter(names));
      }
    }
    for (CLI::Option* const option : app.get_options()) {
      if (!has(names, *option)) app.remove_option(option);
    }
  }

  Exit run() override {
    const auto loaded = load_pipeline<Pipeline>(model_.folder, model_.options());
    Pipeline& pipeline = *loaded;
    ExplainRequest request = request_for(pipeline, method_);
    if (!dictionaries_.empty()) {
      if (!request.method->dictionaries) {
        refuse_option("dictionaries", {"expected an option of {}", {method_}});
      }
      load_dictionaries(dictionaries_, pipeline);
    }
    request.options = options_;
    const std::vector<std::string> names = option_names(request.parts);
    for (const CLI::Option* const option : app_->get_options()) {
      if (option->count() > 0 && !has(names, *option)) {
        refuse_option(field_of(*option).c_str(), {"expected an option of {}", {method_}});
      }
    }
    // These compare two texts.
    const bool compares =
        request.is("activation_patching") || (request.parts & set_of<ChosenEdges>) != 0;
    const bool pairs = pairs_ || compares;
    // If the model reads pictures, a line is the path of a file.
    const AnswerLines settings = {.json = json_,
                                  .quiet = quiet_,
                                  .at_once = 1,
                                  .form = pairs ? LineForm::pair : LineForm::text};
    if (asks_for_next_gradients(pipeline, request)) {
      return answer_lines(
          pipeline, settings,
          [&](std::span<const TextInput> texts) {
            return begin_next_gradients(pipeline, texts, request);
          },
          next_gradients_line);
    }
    const auto with_inputs = [&](const auto& begin) {
      return [&](std::span<const TextInput> lines) {
        if (!reads_pictures(pipeline.config())) return begin(TaskInputs(lines));
        const std::vector<Picture> pictures = read_pictures(lines);
        return begin(TaskInputs(pictures));
      };
    };
    if (request.is("score")) {
      return answer_lines(pipeline, settings, with_inputs([&](const TaskInputs& inputs) {
                            return begin_score_explanation(pipeline, inputs, request);
                          }),
                          score_line);
    }
    if (request.is("features")) {
      return answer_lines(pipeline, settings, with_inputs([&](const TaskInputs& inputs) {
                            return begin_feature_explanation(pipeline, inputs, request);
                          }),
                          features_line);
    }
    return answer_lines(pipeline, settings, with_inputs([&](const TaskInputs& inputs) {
                          return begin_explanation(pipeline, inputs, request);
                        }),
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

  // Returns the name of the field that a flag sets.
  static std::string field_of(const CLI::Option& option) {
    std::string name = option.get_name();
    name.erase(0, name.find_first_not_of('-'));
    std::ranges::replace(name, '-', '_');
    return name;
  }

  // Returns whether an option is among these fields, or one of all methods.
  bool has(const std::vector<std::string>& fields, const CLI::Option& option) const {
    return always_.contains(option.get_name()) ||
           std::ranges::find(fields, field_of(option)) != fields.end();
  }

  CLI::App* app_ = nullptr;
  ModelArguments model_;
  std::string method_;
  std::filesystem::path dictionaries_;
  bool json_ = false, quiet_ = false, pairs_ = false;
  std::set<std::string> always_;  // the options of all methods
  ExplainOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace glassformer
