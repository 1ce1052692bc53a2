#pragma once

#include <future>
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

/// The result of each line, in their order. Each pipeline has a thread of its own and answers every
/// n-th line through answer(pipeline, texts), which returns one Result a text.
template <typename Result, typename Pipeline, typename Answer>
std::vector<Result> in_parallel(const std::vector<std::unique_ptr<Pipeline>>& pipelines,
                                const std::vector<std::string>& lines, const Answer& answer) {
  std::vector<Result> results(lines.size());
  const auto work = [&](std::size_t first) {
    std::vector<std::string_view> texts;
    for (std::size_t i = first; i < lines.size(); i += pipelines.size()) texts.push_back(lines[i]);
    std::vector<Result> answers = answer(*pipelines[first], texts);
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

}  // namespace glassformer
