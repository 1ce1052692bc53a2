#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// Runs texts through an encoder, in one window or several per text. An error in one text does not
/// affect the others.
class EncoderTexts {
 public:
  virtual ~EncoderTexts() = default;

  /// Reads the texts; before the first step.
  void start(std::span<const TextInput> texts);
  /// Answers a batch of them. Returns whether any are left.
  bool step();

 protected:
  EncoderTexts(EncoderPipeline& pipeline, const EncoderOptions& options)
      : work_(pipeline, options) {}

 private:
  virtual std::vector<EncoderInput> read(const TextInput& text) const = 0;
  virtual void take(std::size_t index, std::vector<EncoderAnswer> windows,
                    std::string_view text) = 0;
  virtual void refuse(std::size_t index, const Error& error) = 0;

  struct Text {
    std::string text;
    std::size_t windows = 0;
    std::vector<EncoderAnswer> answers = {};  // of the first windows
  };
  std::vector<Text> texts_;
  EncoderPipeline::Work work_;
};

/// The texts of a task: a pipeline with
///
///     using Typed = …                                       what a text becomes
///     vector<EncoderInput> read(TextInput, options)         the windows of a text
///     Typed answer(vector<EncoderAnswer>, text, options)    what the model makes of them
///     Result to_result(Typed, form)
template <class Task, class Options, class Output>
class TaskTexts : public EncoderTexts {
 public:
  TaskTexts(Task& task, std::span<const TextInput> texts, const Options& options)
      : EncoderTexts(task, encoder_options(options)),
        outputs(texts.size()),
        task_(task),
        options_(options) {}

  std::vector<std::variant<Output, Error>> outputs;  ///< of each text

 protected:
  typename Task::Typed answer(std::vector<EncoderAnswer> windows, std::string_view text) const {
    return task_.answer(std::move(windows), text, options_);
  }
  Task& task_;

 private:
  std::vector<EncoderInput> read(const TextInput& text) const override {
    return task_.read(text, options_);
  }
  void refuse(std::size_t index, const Error& error) override { outputs[index] = error; }

  Options options_;
};

/// Texts whose results are written.
template <class Task, class Options>
class EncoderJob final : public Job, private TaskTexts<Task, Options, Result> {
 public:
  EncoderJob(Task& task, std::span<const TextInput> texts, const Options& options, ResultForm form)
      : TaskTexts<Task, Options, Result>(task, texts, options), form_(form) {
    this->start(texts);
  }

  bool step() override { return EncoderTexts::step(); }
  std::vector<Outcome> end() override { return std::move(this->outputs); }

 private:
  void take(std::size_t index, std::vector<EncoderAnswer> windows, std::string_view text) override {
    this->outputs[index] = this->task_.to_result(this->answer(std::move(windows), text), form_);
  }

  ResultForm form_;
};

/// Texts whose results are returned.
template <class Task, class Options>
class TypedTexts final : public TaskTexts<Task, Options, typename Task::Typed> {
 public:
  using TaskTexts<Task, Options, typename Task::Typed>::TaskTexts;

 private:
  void take(std::size_t index, std::vector<EncoderAnswer> windows, std::string_view text) override {
    this->outputs[index] = this->answer(std::move(windows), text);
  }
};

/// What `task` makes of these texts.
template <class Task, class Options>
auto run_all(Task& task, std::span<const TextInput> texts, const Options& options) {
  TypedTexts<Task, Options> all(task, texts, options);
  all.start(texts);
  while (all.step()) {
  }
  return std::move(all.outputs);
}

}  // namespace glassformer
