#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fields.hpp"
#include "base/option.hpp"
#include "cli/arguments.hpp"
#include "families/config/early_stopping.hpp"
#include "run/trace/trace.hpp"

// The options of a command that are those of a task: declared once, beside the structs.

namespace glassformer {

/// Which fields of a struct become options of a command.
struct FlagChoice {
  CLI::Option* json = nullptr;  ///< --json, which options that only add to the result need
  std::vector<std::string_view> only = {};     ///< if there are any: none but these
  std::vector<std::string_view> without = {};  ///< not these
};

/// Declares an option of a command for each field that can be written on a command line.
class Flags {
 public:
  Flags(CLI::App& app, FlagChoice choice) : app_(app), choice_(std::move(choice)) {}

  template <class Value>
  void operator()(const char* name, Value& option, const Option& about = {}) {
    if (!chosen(name)) return;
    if (CLI::Option* declared = declare(name, option, about)) {
      if (about.adds && choice_.json) declared->needs(choice_.json);
    }
  }

  /// Returns the help of an option: what it does, its range, and its default.
  static std::string help(const Option& about, const std::string& usual = {});

 private:
  bool chosen(std::string_view name) const;

  CLI::Option* declare(const char* name, bool& option, const Option& about);
  CLI::Option* declare(const char* name, std::optional<bool>& option, const Option& about);
  CLI::Option* declare(const char* name, std::vector<HeadIndex>& option, const Option& about);
  CLI::Option* declare(const char* name, std::optional<std::vector<AttentionEdge>>& option,
                       const Option& about);
  CLI::Option* declare(const char* name, std::optional<EarlyStopping>& option, const Option& about);
  CLI::Option* declare(const char* name, std::optional<std::array<std::size_t, 2>>& option,
                       const Option& about);
  template <class Value>
  requires std::is_arithmetic_v<Value> || std::same_as<Value, std::string> CLI::Option* declare(
      const char* name, Value& option, const Option& about) {
    return app_.add_option(flag(name), option, help(about, shown(option)));
  }
  template <class Value>
  requires std::is_arithmetic_v<Value> || std::same_as<Value, std::string> CLI::Option* declare(
      const char* name, std::optional<Value>& option, const Option& about) {
    return app_.add_option(flag(name), option, help(about));
  }
  template <class Enum>
  requires std::is_enum_v<Enum> CLI::Option* declare(const char* name, Enum& option,
                                                     const Option& about) {
    return names(name, enum_names<Enum>, help(about, name_of(option)),
                 [&option](std::size_t chosen) { option = static_cast<Enum>(chosen); });
  }
  template <class Enum>
  requires std::is_enum_v<Enum> CLI::Option* declare(const char* name, std::optional<Enum>& option,
                                                     const Option& about) {
    return names(name, enum_names<Enum>, help(about),
                 [&option](std::size_t chosen) { option = static_cast<Enum>(chosen); });
  }
  template <class Enum>
  requires std::is_enum_v<Enum> CLI::Option* declare(const char* name, std::vector<Enum>& option,
                                                     const Option& about) {
    return names(name, enum_names<Enum>, help(about) + " May be given several times.",
                 [&option](std::size_t chosen) { option.push_back(static_cast<Enum>(chosen)); })
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  template <class Number>
  requires std::integral<Number> CLI::Option* declare(const char* name, std::vector<Number>& option,
                                                      const Option& about) {
    return numbers(name, option, about);
  }
  template <class Number>
  requires std::integral<Number> CLI::Option* declare(const char* name,
                                                      std::optional<std::vector<Number>>& option,
                                                      const Option& about) {
    return numbers(name, option, about);
  }
  CLI::Option* declare(const char* name, std::vector<std::string>& option, const Option& about) {
    return texts(name, option, about);
  }
  CLI::Option* declare(const char* name, std::optional<std::vector<std::string>>& option,
                       const Option& about) {
    return texts(name, option, about);
  }
  // Patches, and lists of lists: a command declares them itself, or not at all.
  template <class Value>
  CLI::Option* declare(const char*, const Value&, const Option&) {
    return nullptr;
  }

  template <class Target>
  CLI::Option* numbers(const char* name, Target& target, const Option& about) {
    using Numbers = std::vector<std::size_t>;
    const auto take = [&target](const Numbers& given) {
      auto& numbers = emptied(target);
      for (const std::size_t each : given) {
        numbers.push_back(static_cast<std::decay_t<decltype(numbers[0])>>(each));
      }
    };
    return app_.add_option_function<Numbers>(flag(name), take, help(about) + " Written as N,N,…")
        ->delimiter(',');
  }
  template <class Number>
  static std::vector<Number>& emptied(std::vector<Number>& numbers) {
    numbers.clear();
    return numbers;
  }
  template <class Number>
  static std::vector<Number>& emptied(std::optional<std::vector<Number>>& numbers) {
    return numbers.emplace();
  }
  // One text each time, so that a text may contain anything.
  template <class Target>
  CLI::Option* texts(const char* name, Target& target, const Option& about) {
    using Given = std::vector<std::string>;
    return app_
        .add_option_function<Given>(
            flag(name), [&target](const Given& given) { target = given; },
            help(about) + " May be given several times.")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  CLI::Option* names(const char* name, EnumNames names, const std::string& about,
                     std::function<void(std::size_t)> choose);

  static std::string flag(const char* name);
  static std::string shown(float number);
  static std::string shown(std::integral auto number) { return std::to_string(number); }
  static std::string shown(const std::string& text) { return text.empty() ? "" : '"' + text + '"'; }

  CLI::App& app_;
  FlagChoice choice_;
};

/// Declares options of a command for the fields of `options`, which must outlive the app.
template <class Options>
void add_flags(CLI::App& app, Options& options, FlagChoice choice = {}) {
  Flags flags(app, std::move(choice));
  fields(flags, options);
}

}  // namespace glassformer
