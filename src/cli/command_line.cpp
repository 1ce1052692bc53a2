#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <span>
#include <system_error>
#include <vector>

#include "base/strings/printable.hpp"
#include "cli/manual.hpp"
#include "cli/schema.hpp"

namespace glassformer {
namespace {

// Writes help in lines of at most 100 characters.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option), 100 - get_column_width());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), 100);
  }

 private:
  static std::string wrapped(const std::string& text, std::size_t width) {
    std::string lines;
    std::size_t used = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      const bool fits = used == 0 || used + 1 + end - begin <= width;
      if (used > 0) lines += fits ? ' ' : '\n';
      lines.append(text, begin, end - begin);
      used = (fits && used > 0 ? used + 1 : 0) + end - begin;
      begin = end + 1;
    }
    return lines;
  }
};

// All commands and their arguments.
class CommandLine {
 public:
  explicit CommandLine(const char* version) : version_(version) {
    app_.name("glassformer");
    app_.require_subcommand(1);
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.set_version_flag("--version", std::string("glassformer ") + version);
    app_.footer(
        "Commands that answer lines read standard input, and write a line for each.\n"
        "glassformer help COMMAND shows a command's options.");
    for (const auto& [name, summary, make] : all_commands()) {
      commands_.push_back(make());
      commands_.back()->declare(*app_.add_subcommand(name, summary));
    }
    app_.add_subcommand("help", "what a command does, and its options")
        ->add_option("COMMAND", helped_, "The command. Default: a list of all commands.");
    app_.add_subcommand("schema", "the options of all tasks, as JSON Schema");
    app_.add_subcommand("manual", "the manual page, for man");
    app_.add_subcommand("completion", "what completes this command in a shell")
        ->add_option("SHELL", shell_, "the shell")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
  }

  // Parses the arguments and runs their command.
  Exit run(int argc, char** argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (helps_with_part(arguments)) return Exit::ok;
    try {
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) return refuse(error, arguments);
      app_.exit(error);  // prints help or the version
      return Exit::ok;
    }
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      if (app_.got_subcommand(all_commands()[i].name)) return commands_[i]->run();
    }
    if (app_.got_subcommand("schema")) {
      std::cout << options_schema() << '\n';
    } else if (app_.got_subcommand("manual")) {
      std::cout << manual_page(app_, version_);
    } else if (app_.got_subcommand("completion")) {
      std::cout << completion(app_, shell_);
    } else {
      return help();
    }
    return Exit::ok;
  }

 private:
  // Replaces a part of a command, such as "direct_logit_attribution" after "explain", by the option
  // that selects it. If help is asked for, prints that of the part, or of the command, and returns
  // true.
  bool helps_with_part(std::vector<std::string>& arguments) {
    if (arguments.size() < 2) return false;
    const Command* const command = find_command(arguments[0]);
    if (!command) return false;
    const auto [option, names] = command->parts();
    const bool found = std::ranges::find(names, arguments[1]) != names.end();
    const bool asked = std::ranges::any_of(
        arguments, [](const std::string& each) { return each == "--help" || each == "-h"; });
    if (asked && !names.empty()) {
      std::cout << help_of(arguments[0], found ? arguments[1] : std::string());
      return true;
    }
    if (found) arguments.insert(arguments.begin() + 1, option);
    return false;
  }

  Command* find_command(const std::string& name) const {
    const std::span<const CommandEntry> all = all_commands();
    const auto entry = std::ranges::find(all, name, &CommandEntry::name);
    return entry == all.end() ? nullptr
                              : commands_[static_cast<std::size_t>(entry - all.begin())].get();
  }

  // Returns the help of a command or, if `part` is not empty, of a part of it.
  std::string help_of(const std::string& name, const std::string& part) {
    CLI::App& app = *app_.get_subcommand(name);
    if (Command* const command = find_command(name)) command->narrow(app, part);
    return app.help(app_.get_name());
  }

  Exit help() const {
    // The app that parsed the arguments would show the help of the command "help".
    CommandLine other(version_);
    if (helped_.empty()) {
      std::cout << other.app_.help();
      return Exit::ok;
    }
    const std::vector<std::string> names = command_names(app_);
    if (std::ranges::find(names, helped_) == names.end()) return refuse_command(helped_);
    std::cout << other.help_of(helped_, {});
    return Exit::ok;
  }

  Exit refuse_command(const std::string& name) const {
    std::cerr << "glassformer: there is no command \"" << printable(name) << '"';
    suggest(nearest(name, command_names(app_)));
    std::cerr << "; glassformer help lists all\n";
    return Exit::usage;
  }

  // Explains what is wrong with the arguments, with suggestions.
  Exit refuse(const CLI::ParseError& error, const std::vector<std::string>& arguments) const {
    const std::vector<std::string> names = command_names(app_);
    if (!arguments.empty() && !arguments[0].starts_with('-') &&
        std::ranges::find(names, arguments[0]) == names.end()) {
      return refuse_command(arguments[0]);
    }
    std::cerr << "glassformer: " << printable(error.what());
    const std::vector<CLI::App*> used = app_.get_subcommands();
    const CLI::App& command = used.empty() ? app_ : *used[0];
    const std::vector<std::string> options = option_names(command);
    for (const std::string& argument : arguments) {
      const std::string option = argument.substr(0, argument.find('='));
      if (!option.starts_with("--") || std::ranges::find(options, option) != options.end())
        continue;
      suggest(nearest(option, options));
      break;
    }
    const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    for (std::size_t i = 1; extra && i < arguments.size(); ++i) {
      std::error_code none;
      if (arguments[i].starts_with('-') || !std::filesystem::is_regular_file(arguments[i], none)) {
        continue;
      }
      std::cerr << "; lines are read from standard input: < " << printable(arguments[i]);
      break;
    }
    std::cerr << "\nglassformer help " << (used.empty() ? "COMMAND" : command.get_name())
              << " shows the options\n";
    return Exit::usage;
  }

  static void suggest(const std::string& meant) {
    if (!meant.empty()) std::cerr << "; did you mean " << meant << '?';
  }

  const char* version_;
  CLI::App app_{"A Transformer you can see through."};
  std::vector<std::unique_ptr<Command>> commands_;  // in the order of all_commands()
  std::string helped_, shell_;                      // arguments of help and completion
};

}  // namespace

void Command::narrow(CLI::App&, const std::string&) {}

Exit run_command(int argc, char** argv, const char* version) {
  return CommandLine(version).run(argc, argv);
}

}  // namespace glassformer
