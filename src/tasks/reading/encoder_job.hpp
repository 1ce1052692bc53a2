#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// Runs texts through an encoder, in one window or several per text. An error in one text does not
/// affect the others.
class EncoderTexts {
 public:
  virtual ~EncoderTexts() = default;

  /// Reads the texts; call before the first step.
  void start(std::span<const TextInput> texts);
  /// Runs the next batch. Returns whether any texts are left.
  bool run_batch();

 protected:
  EncoderTexts(EncoderPipeline& pipeline, const EncoderOptions& options)
      : batches_(pipeline, options) {}
  EncoderPipeline::Batches& batches() { return batches_; }

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
  EncoderPipeline::Batches batches_;
};

/// Runs the texts of a task. `Task` is a pipeline with
///
///     using Typed = …, Options = …
///     vector<EncoderInput> read(TextInput, options)         returns the windows of a text
///     Typed answer(vector<EncoderAnswer>, text, options)    returns the result for a text
///     AnswerTerms explained(input, logits, options)         what gradients explain; may be absent
///     void write_fields(ResultWriter&, Typed&)
template <class Task>
class EncoderJob final : public TypedJob<typename Task::Typed>, private EncoderTexts {
 public:
  using Typed = typename Task::Typed;
  using Options = typename Task::Options;

  EncoderJob(Task& task, std::span<const TextInput> texts, const Options& options)
      : EncoderTexts(task, encoder_options(options)),
        task_(task),
        options_(options),
        results_(texts.size()) {
    if (make_linked_tape && !encoder_options(options).gradients.empty()) {
      batches().explain(explained_by(task, options));
    }
    start(texts);
  }

  bool step() override { return run_batch(); }
  Results<Typed> take() override { return std::move(results_); }

 private:
  std::vector<EncoderInput> read(const TextInput& text) const override {
    return task_.read(text, options_);
  }
  void take(std::size_t index, std::vector<EncoderAnswer> windows, std::string_view text) override {
    results_[index] = task_.answer(std::move(windows), text, options_);
  }
  void refuse(std::size_t index, const Error& error) override { results_[index] = error; }
  void write_fields(ResultWriter& writer, Typed& result) override {
    task_.write_fields(writer, result);
  }

  static EncoderPipeline::Explained explained_by(Task& task, const Options& options) {
    if constexpr (requires(const EncoderInput& input, const ConstView& logits) {
                    task.explained(input, logits, options);
                  }) {
      return [&task, options](const EncoderInput& input, const ConstView& logits) {
        return task.explained(input, logits, options);
      };
    } else {
      return {};
    }
  }

  Task& task_;
  Options options_;
  Results<Typed> results_;
};

}  // namespace glassformer
