#include "tasks/explain/explain.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <variant>

#include "cli/explanation_line.hpp"
#include "cli/files/picture_file.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "tasks/explain/next/next_gradients.hpp"

namespace glassformer {
namespace {

template <class... First, class... Second>
std::tuple<First..., Second...> each_of(const std::variant<First...>&,
                                        const std::variant<Second...>&);
// One of each struct of options. An option of several methods is in several of them.
using AllOptions = decltype(each_of(MethodOptions(), ModelOptions()));

template <class Visit>
void visit_all(Visit& visit, AllOptions& all) {
  std::apply([&](auto&... each) { (fields(visit, each), ...); }, all);
}

// Declares one option for each name.
class FlagOfEachName {
 public:
  FlagOfEachName(CLI::App& app, FlagChoice choice) : flags_(app, std::move(choice)) {}

  template <class Value>
  void operator()(const char* name, Value& option, const Option& about = {}) {
    if (names_.insert(name).second) flags_(name, option, about);
  }

 private:
  Flags flags_;
  std::set<std::string_view> names_;
};

// Visits options. Takes the first of a name, which is the one that FlagOfEachName declares.
template <class Value>
struct TakeFirst {
  std::string_view name;
  std::optional<Value> value = {};

  template <class Other>
  void operator()(const char* other_name, const Other& other, const Option& = {}) {
    if constexpr (std::same_as<Value, Other>) {
      if (!value && name == other_name) value = other;
    }
  }
};

// Visits options. Sets them to what the command line gives, and notes their names.
struct Fill {
  AllOptions& given;
  std::set<std::string, std::less<>> names = {};

  template <class Value>
  void operator()(const char* name, Value& option, const Option& = {}) {
    names.insert(name);
    TakeFirst<Value> first = {name};
    visit_all(first, given);
    option = *std::move(first.value);
  }
};

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
    add_compute(app, model_.compute);
    add_threads(app, model_.threads);
    for (const CLI::Option* const option : app.get_options()) always_.insert(option->get_name());
    FlagOfEachName flags(app, {.without = {"on_progress", "patch"}});
    visit_all(flags, all_);
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
    app.remove_option(app.get_option("--method"));
    std::set<std::string, std::less<>> names;
    for (const Answered answered : all_answered) {
      for (std::string& name : option_names(method, answered)) names.insert(std::move(name));
    }
    for (CLI::Option* const option : app.get_options()) {
      if (!has(names, *option)) app.remove_option(option);
    }
  }

  Exit run() override {
    const auto loaded = load_pipeline<Pipeline>(model_.folder, model_.options());
    Pipeline& pipeline = *loaded;
    ExplainRequest request = request_for(pipeline, method_);
    Fill fill = {all_};
    fields(fill, request);
    for (const CLI::Option* const option : app_->get_options()) {
      if (option->count() > 0 && !has(fill.names, *option)) {
        refuse_option(field_of(*option).c_str(), {"expected an option of {}", {method_}});
      }
    }
    // If the model reads pictures, a line is the path of a file.
    const bool pairs = pairs_ || request.is("activation_patching");  // which has two texts
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
    return answer_lines(
        pipeline, settings,
        [&](std::span<const TextInput> lines) {
          if (!reads_pictures(pipeline.config())) {
            return begin_explanation(pipeline, TaskInputs(lines), request);
          }
          const std::vector<Picture> pictures = read_pictures(lines);
          return begin_explanation(pipeline, TaskInputs(pictures), request);
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

  // Returns the name of the field that a flag sets.
  static std::string field_of(const CLI::Option& option) {
    std::string name = option.get_name();
    name.erase(0, name.find_first_not_of('-'));
    std::ranges::replace(name, '-', '_');
    return name;
  }

  // Returns whether an option is among these fields, or one of all methods.
  bool has(const std::set<std::string, std::less<>>& fields, const CLI::Option& option) const {
    return always_.contains(option.get_name()) || fields.contains(field_of(option));
  }

  CLI::App* app_ = nullptr;
  ModelArguments model_;
  std::string method_;
  bool json_ = false, quiet_ = false, pairs_ = false;
  std::set<std::string> always_;  // the options of all methods
  AllOptions all_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace glassformer
