#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace glassformer {

/// A command's exit status.
enum class Exit { ok = 0, bad_input = 1, usage = 2 };

/// A command of the command line.
class Command {
 public:
  virtual ~Command() = default;

  /// Declares the command's arguments, in the order in which help lists them.
  virtual void declare(CLI::App& app) = 0;
  /// Runs the command once its arguments have been parsed.
  virtual Exit run() = 0;

  /// What a word after the command may select, such as a method of `explain`, and the option that
  /// selects the same.
  struct Parts {
    std::string option = {};
    std::vector<std::string> names = {};
  };
  virtual Parts parts() const { return {}; }
  /// Leaves only what one of the parts has or, if it is empty, what all have, for the help.
  virtual void narrow(CLI::App& app, const std::string& part);
};

/// A command, its line in the list of all, and the function that makes it.
struct CommandEntry {
  const char* name;
  const char* summary;
  std::unique_ptr<Command> (*make)();
};

/// All commands but help, in the order in which help lists them.
std::span<const CommandEntry> all_commands();

}  // namespace glassformer
