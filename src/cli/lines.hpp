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

/// `count` pipelines from `load`: a pipeline answers one request at a time.
template <typename Load>
auto load_several(std::size_t count, const Load& load) {
  std::vector<decltype(load())> pipelines;
  for (std::size_t i = 0; i < count; ++i) pipelines.push_back(load());
  return pipelines;
}

/// Says once, where the lines come from a terminal, that they are waited for.
void say_who_writes();

/// How far a long input is, on a terminal that shows nothing else: a line that is written again
/// every second, and gone at the end.
class LineProgress {
 public:
  LineProgress();
  LineProgress(const LineProgress&) = delete;
  LineProgress& operator=(const LineProgress&) = delete;
  ~LineProgress();

  void reach(std::size_t lines);
  /// Makes room for a message.
  void clear();

 private:
  bool shown_ = false, wanted_;
  std::chrono::steady_clock::time_point last_;
};

/// The next lines of standard input that have arrived, at most so many: a pipe is answered in
/// batches, a person line by line. None at the end. Throws std::ios_base::failure if reading fails.
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

/// Throws `invalid_option` with the place of the first byte that is not UTF-8, from 1.
void expect_utf8(std::string_view line);

/// What a model's vectors are made without.
std::string unused_head_note(const ModelConfig& config);

/// What a line is.
enum class LineForm {
  text,
  pair,  ///< two texts, with a tab between them
};

/// Throws `invalid_option` for what is not UTF-8, and for a pair without a tab.
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

/// The outcome of each line, in their order. Each pipeline has a thread of its own and answers
/// every n-th line by the job that begin(pipeline, texts) returns.
template <typename OnePipeline, typename Begin>
std::vector<Outcome> in_parallel(const std::vector<std::unique_ptr<OnePipeline>>& pipelines,
                                 const std::vector<std::string>& lines, LineForm form,
                                 const Begin& begin) {
  std::vector<Outcome> outcomes(lines.size());
  const auto work = [&](std::size_t first) {
    std::vector<TextInput> texts;
    std::vector<std::size_t> places;  // of each of them among the lines
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
  for (std::future<void>& other : others) other.get();  // throws what the thread threw
  return outcomes;
}

/// What a text without result is on standard output, unless JSON is asked for.
enum class ErrorLine {
  code,   ///< "error<tab>CODE"
  empty,  ///< an empty line; and that an empty text has no result is no error
};

struct AnswerLines {
  bool json;
  bool attention = false;    ///< the results hold attention weights
  std::size_t at_once = 64;  ///< lines a pipeline together, where they hold none
  ErrorLine error = ErrorLine::code;
  LineForm form = LineForm::text;
  std::string_view clipped_hint = {};  ///< how to have a long line read to its end
};

/// Answers standard input to its end, line by line.
template <typename OnePipeline, typename Begin>
Exit answer_lines(const std::vector<std::unique_ptr<OnePipeline>>& pipelines,
                  const AnswerLines& how, const Begin& begin) {
  // Attention weights take more memory than all else: a line's are written before the next's.
  const std::size_t most = (how.attention ? 1 : how.at_once) * pipelines.size();
  begin(*pipelines[0], std::vector<TextInput>());  // refuses options before any line is read
  Exit exit = Exit::ok;
  std::size_t number = 0;  // of the line
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
