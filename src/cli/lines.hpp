#pragma once

#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// Loads `count` pipelines with `load`; each answers one request at a time.
template <typename Load>
auto load_several(std::size_t count, const Load& load) {
  std::vector<decltype(load())> pipelines;
  for (std::size_t i = 0; i < count; ++i) pipelines.push_back(load());
  return pipelines;
}

/// Prints once, if lines are read from a terminal, that input is expected.
void say_who_writes();

/// Progress of a long input, for a terminal that shows no other output. The line is rewritten every
/// second and removed at the end.
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

/// Returns the lines of standard input that have arrived, at most `most`: a pipe is answered in
/// batches, a terminal line by line. Empty at the end. Throws std::ios_base::failure if reading
/// fails.
inline std::vector<std::string> read_lines(std::size_t most) {
  say_who_writes();
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(std::cin, line)) {
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

/// Returns the outcome of each line, in order. With n pipelines, each runs on its own thread and
/// answers every n-th line with the job that begin(pipeline, texts) returns.
template <typename OnePipeline, typename Begin>
std::vector<Outcome> in_parallel(const std::vector<std::unique_ptr<OnePipeline>>& pipelines,
                                 const std::vector<std::string>& lines, LineForm form,
                                 const Begin& begin) {
  std::vector<Outcome> outcomes(lines.size());
  const auto work = [&](std::size_t first) {
    std::vector<TextInput> texts;
    std::vector<std::size_t> places;  // line index of each text
    for (std::size_t i = first; i < lines.size(); i += pipelines.size()) {
      try {
        texts.push_back(to_input(lines[i], form));
        places.push_back(i);
      } catch (const Error& error) {
        outcomes[i] = error;
      }
    }
    const std::unique_ptr<Job> job = begin(*pipelines[first], texts);
    while (job->step()) {
    }
    std::vector<Outcome> answers = job->end();
    for (std::size_t i = 0; i < answers.size(); ++i) outcomes[places[i]] = std::move(answers[i]);
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < pipelines.size(); ++i) {
    others.push_back(std::async(std::launch::async, work, i));
  }
  work(0);
  for (std::future<void>& other : others) other.get();  // rethrows the thread's exception
  return outcomes;
}

/// The output line for a text without a result, unless the output is JSON.
enum class ErrorLine {
  code,   ///< "error<tab>CODE"
  empty,  ///< an empty line; if the text was empty, this is not an error
};

struct AnswerLines {
  bool json;
  bool attention = false;    ///< the results include attention weights
  std::size_t at_once = 64;  ///< lines per pipeline and batch, without attention weights
  ErrorLine error = ErrorLine::code;
  LineForm form = LineForm::text;
  std::string_view clipped_hint = {};  ///< tells how to have a long line read completely
};

/// Answers standard input line by line until it ends.
template <typename OnePipeline, typename Begin>
Exit answer_lines(const std::vector<std::unique_ptr<OnePipeline>>& pipelines,
                  const AnswerLines& how, const Begin& begin) {
  // Attention weights take the most memory, so each line's are written before the next is read.
  const std::size_t most = (how.attention ? 1 : how.at_once) * pipelines.size();
  begin(*pipelines[0], std::vector<TextInput>());  // rejects bad options before reading
  Exit exit = Exit::ok;
  std::size_t number = 0;  // line number
  LineProgress progress;
  const auto write = [&](const Outcome& outcome) {
    ++number;
    const Error* error = std::get_if<Error>(&outcome);
    if (!error) {
      const Result& result = std::get<Result>(outcome);
      if (result.clipped) {
        progress.clear();
        std::cerr << "glassformer: line " << number
                  << ": warning: it has more tokens than the model reads, and was cut"
                  << how.clipped_hint << '\n';
      }
      std::cout << result.text << '\n';
      return;
    }
    const bool by_code = how.json || how.error == ErrorLine::code;
    if (by_code || error->code() != ErrorCode::empty_input) {
      exit = Exit::bad_input;
      progress.clear();
      std::cerr << "glassformer: line " << number << ": " << error->what() << '\n';
    }
    if (how.json) {
      std::cout << to_json(*error);
    } else if (by_code) {
      std::cout << "error\t" << to_string(error->code());
    }
    std::cout << '\n';
  };
  for (auto lines = read_lines(most); !lines.empty(); lines = read_lines(most)) {
    for (const Outcome& outcome : in_parallel(pipelines, lines, how.form, begin)) write(outcome);
    std::cout.flush();
    progress.reach(number);
  }
  return exit;
}

}  // namespace glassformer
