#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "pipelines/encoder_pipeline.hpp"

namespace glassformer {

/// A job of a task whose every text is one input: Task is a pipeline with
///
///     using Typed = …                               what a text becomes
///     EncoderInput read(TextInput, options)         a text as the model reads it
///     Typed answer(EncoderAnswer, text, options)    what the model makes of it
///     Result to_result(Typed, form)
///
/// Of one text's error the others hear nothing.
template <class Task, class Options>
class EncoderJob final : public Job {
 public:
  using Typed = typename Task::Typed;

  EncoderJob(Task& task, std::span<const TextInput> texts, const Options& options, ResultForm form)
      : task_(task),
        options_(options),
        form_(form),
        work_(task, encoder_options(options)),
        results_(texts.size()) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      texts_.emplace_back(texts[i].text);
      try {
        work_.add(i, task.read(texts[i], options));
      } catch (const Error& error) {
        results_[i] = error;
      }
    }
  }

  bool step() override {
    return work_.step([&](std::size_t text, EncoderAnswer answer) {
      try {
        results_[text] = task_.answer(std::move(answer), texts_[text], options_);
      } catch (const Error& error) {
        results_[text] = error;
      }
    });
  }

  std::vector<std::variant<Typed, Error>> take_results() { return std::move(results_); }

  std::vector<Outcome> end() override {
    return to_outcomes(take_results(),
                       [&](Typed result) { return task_.to_result(std::move(result), form_); });
  }

 private:
  Task& task_;
  Options options_;
  ResultForm form_;
  std::vector<std::string> texts_;
  typename Task::Work work_;
  std::vector<std::variant<Typed, Error>> results_;
};

/// What `task` makes of these texts.
template <class Task, class Options>
auto run_all(Task& task, std::span<const TextInput> texts, const Options& options) {
  EncoderJob<Task, Options> job(task, texts, options, ResultForm::json);
  while (job.step()) {
  }
  return job.take_results();
}

}  // namespace glassformer
