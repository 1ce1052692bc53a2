#include <unistd.h>

#include "base/strings/printable.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "cli/stop_signals.hpp"
#include "tasks/chat/conversation.hpp"
#include "tasks/generate/generate.hpp"

namespace glassformer {
namespace {

// The most tokens of an answer, where neither the command nor the folder tells.
constexpr std::size_t usual_answer = 512;

class ChatCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, task_.model.folder);
    add_flags(app, chat_);
    CLI::Option* json = add_json(app, task_.json);
    add_quiet(app, task_.quiet);
    add_flags(app, options_,
              {.json = json,
               .without = {"trace", "stream", "keep", "task", "prefix", "special_tokens", "beams",
                           "length_penalty", "early_stopping", "hypotheses"}});
    add_run(app, task_);
  }

  Exit run() override {
    const auto pipeline =
        load_pipeline<GeneratePipeline>(task_.model.folder, task_.model.options());
    Conversation conversation(pipeline->config().chat, chat_);
    options_.patch = read_patches(task_.patch);
    options_ = turn_options(options_);
    const GenerationConfig& folder = pipeline->config().generation;
    if (!options_.max_new_tokens && !folder.max_new_tokens && !folder.max_length) {
      options_.max_new_tokens = usual_answer;
    }
    options_.stream = in_terminal_ && !task_.json;
    pipeline->begin(std::span<const std::string_view>(), options_);  // rejects bad options
    const AnswerLines settings = {.json = task_.json, .quiet = task_.quiet};
    LinePrinter printer(settings);
    for (std::string line; next_line(line);) {
      OutputLines outputs;
      try {
        outputs.emplace_back(answer(*pipeline, conversation, line));
      } catch (const Error& error) {
        outputs.emplace_back(error);
      }
      printer.write(outputs);
    }
    return printer.exit();
  }

 private:
  // Reads a line from standard input. In a terminal, empty ones are left out.
  bool next_line(std::string& line) const {
    say_who_writes();
    do {
      if (in_terminal_) std::cerr << "> " << std::flush;
      if (!std::getline(std::cin, line)) return false;
      without_return(line);
    } while (in_terminal_ && line.empty());
    return true;
  }

  // Answers a message. In a terminal the answer appears as it is written; Ctrl-C stops it.
  OutputLine answer(GeneratePipeline& pipeline, Conversation& conversation,
                    const std::string& line) const {
    expect_utf8(line);
    const std::string prompt = conversation.prompt(line);
    const std::string_view text = prompt;
    const auto job = pipeline.begin(std::span(&text, 1), options_);
    std::optional<StopSignals> signals;
    if (options_.stream) signals.emplace();
    std::size_t shown = 0;
    for (bool more = true; more;) {
      more = job->step();
      show(*job, shown);
      if (more && signals && signals->came()) return {};
    }
    Generation result = only(job->take());
    conversation.add(line, result.output.text);
    if (!task_.json) {
      return {options_.stream ? "" : on_one_line(result.output.text), result.clipped};
    }
    EmbeddedTensors writer;
    writer.object([&] { fields(writer, result); });
    return {writer.take()};
  }

  // Shows what the last step wrote, without characters that control the terminal.
  static void show(const GenerationJob& job, std::size_t& shown) {
    if (!job.streamed()) return;
    std::string_view rest = std::string_view(job.streamed()->text).substr(shown);
    shown += rest.size();
    for (std::size_t end = 0; end != std::string_view::npos; rest.remove_prefix(end + 1)) {
      end = rest.find('\n');
      std::cout << on_one_line(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      std::cout << '\n';
    }
    std::cout << std::flush;
  }

  TaskArguments task_;
  ChatOptions chat_;
  GenerateOptions options_;
  bool in_terminal_ = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
};

}  // namespace

std::unique_ptr<Command> make_chat_command() { return std::make_unique<ChatCommand>(); }

}  // namespace glassformer
