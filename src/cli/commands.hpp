#pragma once

#include <CLI/App.hpp>
#include <memory>
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
  /// Leaves only what one of the parts has, for its help.
  virtual void narrow(CLI::App& app, const std::string& part);
};

std::unique_ptr<Command> make_classify_command();
std::unique_ptr<Command> make_translate_command();
std::unique_ptr<Command> make_ner_command();
std::unique_ptr<Command> make_answer_command();
std::unique_ptr<Command> make_fill_command();
std::unique_ptr<Command> make_embed_command();
std::unique_ptr<Command> make_generate_command();
std::unique_ptr<Command> make_chat_command();
std::unique_ptr<Command> make_image_command();
std::unique_ptr<Command> make_trace_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_tokenize_command();
std::unique_ptr<Command> make_inspect_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_init_command();
std::unique_ptr<Command> make_train_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_quantize_command();

}  // namespace glassformer
