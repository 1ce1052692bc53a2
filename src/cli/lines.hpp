#pragma once

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/picture_file.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/load.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// Prints once, if lines are read from a terminal, that input is expected.
void say_who_writes();

/// Shows the progress of a long input on a terminal that shows no other output. The line is
/// rewritten every second and removed at the end.
class LineProgress {
 public:
  LineProgress();
  LineProgress(const LineProgress&) = delete;
  LineProgress& operator=(const LineProgress&) = delete;
  ~LineProgress();

  void reach(std::size_t lines);
  /// Clears the line before a message.
  void clear();

 private:
  bool shown_ = false, wanted_;
  std::chrono::steady_clock::time_point last_;
};

/// Removes what ends a line on Windows, in addition to the line break.
inline void without_return(std::string& line) {
  if (line.ends_with('\r')) line.pop_back();
}

/// Returns the lines of standard input that have arrived, at most `most`: a pipe is answered in
/// batches, a terminal line by line. Empty at the end. Throws std::ios_base::failure if reading
/// fails.
inline std::vector<std::string> read_lines(std::size_t most) {
  say_who_writes();
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(std::cin, line)) {
    without_return(line);
    lines.push_back(std::move(line));
    if (lines.size() == most || std::cin.rdbuf()->in_avail() <= 0) break;
  }
  return lines;
}

/// Throws `invalid_option` with the 1-based position of the first byte that is not UTF-8.
void expect_utf8(std::string_view line);

/// Returns the note that the model makes vectors and does not run its head.
std::string unused_head_note(const ModelConfig& config);

/// The form of an input line.
enum class LineForm {
  text,
  pair,  ///< two texts separated by a tab
};

/// Parses a line. Throws `invalid_option` if it is not UTF-8, or if it is a pair without a tab.
inline TextInput to_input(std::string_view line, LineForm form) {
  expect_utf8(line);
  if (form == LineForm::text) return line;
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    throw Error(ErrorCode::invalid_option,
                "expected two texts with a tab between them, got no tab");
  }
  return {line.substr(0, tab), line.substr(tab + 1)};
}

/// The line that shows a result.
struct OutputLine {
  std::string text;
  bool clipped = false;  ///< the model could not read all of the input
};

/// The line or JSON text of each input line, or its error.
using OutputLines = std::vector<std::variant<OutputLine, Error>>;

/// Returns the output of each line, in order, with answer(texts) for up to `at_once` texts. Each of
/// n threads answers every n-th line alone; if there are few lines, the threads share the work of
/// each.
template <class Answer>
OutputLines in_parallel(Pool& pool, const std::vector<std::string>& lines, LineForm form,
                        std::size_t at_once, const Answer& answer) {
  OutputLines outputs(lines.size());
  const std::size_t parts = lines.size() >= 2 * pool.threads() ? pool.threads() : 1;
  pool.each(parts, [&](std::size_t part, std::size_t) {
    std::vector<TextInput> texts;
    std::vector<std::size_t> places;  // line index of each text
    const auto answer_texts = [&] {
      OutputLines answers = answer(texts);
      for (std::size_t i = 0; i < answers.size(); ++i) outputs[places[i]] = std::move(answers[i]);
      texts.clear();
      places.clear();
    };
    for (std::size_t i = part; i < lines.size(); i += parts) {
      try {
        texts.push_back(to_input(lines[i], form));
        places.push_back(i);
      } catch (const Error& error) {
        outputs[i] = error;
      }
      if (texts.size() == at_once) answer_texts();
    }
    if (!texts.empty()) answer_texts();
  });
  return outputs;
}

/// Starts answering several texts or, if the model reads pictures, files with these paths.
template <class Typed, class Options>
auto begin_job(Typed& pipeline, std::span<const TextInput> texts, const Options& options) {
  if constexpr (requires { pipeline.begin(std::span<const Picture>(), options); }) {
    return pipeline.begin(read_pictures(texts), options);
  } else if constexpr (requires { pipeline.begin(texts, options); }) {
    return pipeline.begin(texts, options);
  } else {
    return pipeline.begin(single_texts(texts), options);
  }
}

/// Runs a job to its end and returns the JSON text of each result or, with `line_of`, its line.
template <class Typed, class LineOf>
OutputLines outputs_of(TypedJob<Typed>& job, bool json, const LineOf& line_of) {
  OutputLines outputs;
  const auto add = [&](auto results, const auto& output_of) {
    for (auto& result : results) {
      if (const Error* error = std::get_if<Error>(&result)) {
        outputs.emplace_back(*error);
      } else {
        outputs.emplace_back(output_of(std::get<0>(result)));
      }
    }
  };
  if (!json) {
    add(run_all(job), line_of);
    return outputs;
  }
  while (job.step()) {
  }
  add(results_as_json(job), [](std::string& text) { return OutputLine{std::move(text)}; });
  return outputs;
}

/// The output line for a text without a result, unless the output is JSON.
enum class ErrorLine {
  code,   ///< "error<tab>CODE"
  empty,  ///< an empty line; if the text was empty, this is not an error
};

struct AnswerLines {
  bool json;
  bool quiet = false;        ///< no warnings
  bool attention = false;    ///< the results include attention weights
  std::size_t at_once = 64;  ///< lines per thread and batch, without attention weights
  ErrorLine error = ErrorLine::code;
  LineForm form = LineForm::text;
  std::string_view clipped_hint = {};  ///< tells how to have a long line read completely
};

/// Writes the output of one line after the other.
class LinePrinter {
 public:
  explicit LinePrinter(const AnswerLines& settings) : settings_(settings) {}

  void write(const OutputLines& outputs);
  /// Ends the output: says how many lines were cut. Returns bad_input if a line had an error.
  Exit exit();

 private:
  void write(const OutputLine& line);
  void write(const Error& error);

  const AnswerLines& settings_;
  Exit exit_ = Exit::ok;
  std::size_t number_ = 0;   // line number
  std::size_t clipped_ = 0;  // lines that were cut
  LineProgress progress_;
};

/// Answers standard input line by line until it ends, with the job that begin(texts) returns.
/// `line_of` returns the line that shows a result.
template <class Typed, class Begin, class LineOf>
Exit answer_lines(Typed& pipeline, const AnswerLines& settings, const Begin& begin,
                  const LineOf& line_of) {
  // Attention weights take the most memory, so each line's are written before the next is read.
  const std::size_t at_once = settings.attention ? 1 : settings.at_once;
  const std::size_t most = at_once * pipeline.thread_pool().threads();
  begin(std::span<const TextInput>());  // rejects bad options before reading
  const auto answer = [&](std::span<const TextInput> texts) {
    try {
      return outputs_of(*begin(texts), settings.json, line_of);
    } catch (const Error& error) {  // a file that cannot be read
      if (texts.size() != 1) throw;
      return OutputLines{error};
    }
  };
  LinePrinter printer(settings);
  for (auto lines = read_lines(most); !lines.empty(); lines = read_lines(most)) {
    printer.write(in_parallel(pipeline.thread_pool(), lines, settings.form, at_once, answer));
  }
  return printer.exit();
}

/// Answers standard input with the options of a task.
template <class Typed, class Options, class LineOf>
Exit answer_with_options(Typed& pipeline, const AnswerLines& settings, const Options& options,
                         const LineOf& line_of) {
  return answer_lines(
      pipeline, settings,
      [&](std::span<const TextInput> texts) { return begin_job(pipeline, texts, options); },
      line_of);
}

}  // namespace glassformer
