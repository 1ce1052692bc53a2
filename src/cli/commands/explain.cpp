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

// Returns the id of a text that is one token.
std::size_t one_token(const Pipeline& pipeline, std::string_view text) {
  const auto tokens = pipeline.vocabulary()->encode(text);
  if (tokens.size() == 1) return static_cast<std::size_t>(tokens.front().id);
  throw_error(ErrorCode::invalid_option,
              {"expected a text of one token, got {} in {}", {tokens.size(), describe(text)}});
}

// Parses CLEAN<TAB>CORRUPT or CLEAN<TAB>CORRUPT<TAB>ANSWER<TAB>WRONG ANSWER.
CircuitPair to_pair(const Pipeline& pipeline, std::string_view line) {
  expect_utf8(line);
  std::vector<std::string> columns;
  for (std::size_t at = 0; at <= line.size(); at += columns.back().size() + 1) {
    columns.emplace_back(line.substr(at, line.find('\t', at) - at));
  }
  if (columns.size() != 2 && columns.size() != 4) {
    throw_error(ErrorCode::invalid_option,
                {"expected two texts, or two texts and two tokens, with tabs between them, got {}",
                 {columns.size()}});
  }
  CircuitPair pair;
  pair.text = std::move(columns[0]);
  pair.pair = std::move(columns[1]);
  if (columns.size() == 2) return pair;
  if (!writes(pipeline.config().task)) {
    throw_error(ErrorCode::invalid_option,
                "expected tokens only for a model that writes, got them for another");
  }
  pair.token = one_token(pipeline, columns[2]);
  pair.against = one_token(pipeline, columns[3]);
  return pair;
}

// Returns the pairs of standard input. An error names its line.
std::vector<CircuitPair> read_pairs(const Pipeline& pipeline) {
  constexpr std::size_t most = 10'000;
  std::vector<CircuitPair> pairs;
  for (auto lines = read_lines(most); !lines.empty(); lines = read_lines(most)) {
    for (const std::string& line : lines) {
      const std::size_t number = pairs.size() + 1;
      try {
        pairs.push_back(to_pair(pipeline, line));
      } catch (const Error& error) {
        throw_error(error.code(), {"line {}: {}", {number, error.what()}});
      }
    }
  }
  return pairs;
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
    app.add_flag("--together", together_,
                 "For circuit: one circuit for all lines, CLEAN<TAB>CORRUPT, or with the tokens to "
                 "compare CLEAN<TAB>CORRUPT<TAB>ANSWER<TAB>WRONG ANSWER.");
    add_flags(app, options_, {.without = {"on_progress", "patch", "more_pairs"}});
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
      if (part == "circuit") names.emplace_back("together");
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
    std::vector<std::string> names = option_names(request.parts);
    if ((request.parts & set_of<ChosenEdges>) != 0) names.emplace_back("together");
    for (const CLI::Option* const option : app_->get_options()) {
      if (option->count() > 0 && !has(names, *option)) {
        refuse_option(field_of(*option).c_str(), {"expected an option of {}", {method_}});
      }
    }
    // These compare two texts.
    const bool compares = request.is("activation_patching") ||
                          (request.is("circuit") && writes(pipeline.config().task));
    const bool pairs = pairs_ || compares;
    if (together_) return explain_together(pipeline, std::move(request));
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

  Exit explain_together(Pipeline& pipeline, ExplainRequest request) const {
    std::vector<CircuitPair> pairs = read_pairs(pipeline);
    if (pairs.empty()) refuse_option("together", "expected a line of two texts, got none");
    const CircuitPair first = std::move(pairs.front());
    pairs.erase(pairs.begin());
    if (first.token) request.options.token = first.token;
    if (first.against) request.options.against = first.against;
    request.options.more_pairs = std::move(pairs);
    const TextInput input = {first.text, first.pair};
    const AnswerLines settings = {.json = json_, .quiet = quiet_};
    LinePrinter printer(settings);
    if (asks_for_next_gradients(pipeline, request)) {
      const auto job = begin_next_gradients(pipeline, std::span(&input, 1), request);
      printer.write(outputs_of(*job, json_, next_gradients_line));
    } else {
      const auto job = begin_explanation(pipeline, std::span(&input, 1), request);
      printer.write(outputs_of(*job, json_, explanation_line));
    }
    return printer.exit();
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
  bool json_ = false, quiet_ = false, pairs_ = false, together_ = false;
  std::set<std::string> always_;  // the options of all methods
  ExplainOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace glassformer
