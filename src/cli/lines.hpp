#pragma once

#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// `count` pipelines from `load`: a pipeline answers one request at a time.
template <typename Load>
auto load_several(std::size_t count, const Load& load) {
  std::vector<decltype(load())> pipelines;
  for (std::size_t i = 0; i < count; ++i) pipelines.push_back(load());
  return pipelines;
}

/// The next lines of standard input that have arrived, at most so many: a pipe is answered in
/// batches, a person line by line. None at the end. Throws std::ios_base::failure if reading fails.
inline std::vector<std::string> read_lines(std::size_t most) {
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(std::cin, line)) {
    lines.push_back(std::move(line));
    if (lines.size() == most || std::cin.rdbuf()->in_avail() <= 0) break;
  }
  return lines;
}

/// The result of each line, in their order. Each pipeline has a thread of its own and answers every
/// n-th line through answer(pipeline, texts), which returns one result a text.
template <typename Pipeline, typename Answer>
auto in_parallel(const std::vector<std::unique_ptr<Pipeline>>& pipelines,
                 const std::vector<std::string>& lines, const Answer& answer) {
  using Results = decltype(answer(*pipelines[0], std::vector<std::string_view>()));
  Results results(lines.size());
  const auto work = [&](std::size_t first) {
    std::vector<std::string_view> texts;
    for (std::size_t i = first; i < lines.size(); i += pipelines.size()) texts.push_back(lines[i]);
    Results answers = answer(*pipelines[first], texts);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      results[first + i * pipelines.size()] = std::move(answers[i]);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < pipelines.size(); ++i) {
    others.push_back(std::async(std::launch::async, work, i));
  }
  work(0);
  for (std::future<void>& other : others) other.get();  // throws what the thread threw
  return results;
}

/// Answers standard input to its end, at most `at_once` lines a pipeline together, and hands each
/// result to `write`, in order.
template <typename Pipeline, typename Answer, typename Write>
void answer_lines(const std::vector<std::unique_ptr<Pipeline>>& pipelines, std::size_t at_once,
                  const Answer& answer, const Write& write) {
  const std::size_t most = at_once * pipelines.size();
  for (auto lines = read_lines(most); !lines.empty(); lines = read_lines(most)) {
    for (const auto& result : in_parallel(pipelines, lines, answer)) write(result);
    std::cout.flush();
  }
}

}  // namespace glassformer
