#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/text_input.hpp"
#include "base/error.hpp"
#include "families/config/model_config.hpp"
#include "image/picture.hpp"
#include "kernels/compute.hpp"
#include "models/dictionary/dictionary.hpp"
#include "run/sessions.hpp"
#include "tasks/options.hpp"
#include "tasks/result_writer.hpp"
#include "text/tokenizer.hpp"
#include "weights/loader.hpp"

// The base of all tasks. A pipeline is a loaded model with everything that it needs to answer
// inputs: input -> tokens -> model -> typed result. Callers that know the task use the pipeline's
// own type and get a TypedJob; callers that serve any task use Pipeline and Job.

namespace glassformer {

/// The results of several inputs, in order: a typed result, or the error of that input.
template <class Typed>
using Results = std::vector<std::variant<Typed, Error>>;

/// Returns the first of several results, or throws its error.
template <class Typed>
Typed only(Results<Typed> results) {
  if (const Error* error = std::get_if<Error>(&results[0])) throw Error(*error);
  return std::get<Typed>(std::move(results[0]));
}

/// Inputs that are being answered. Between two steps a caller may show progress, pause or give up.
class Job {
 public:
  virtual ~Job() = default;

  /// Does the next piece of work. Returns whether any is left.
  virtual bool step() = 0;
  /// Writes the progress that the last step made, such as a token of a stream. Returns whether
  /// there was any.
  virtual bool show(ResultWriter&) { return false; }
  /// Ends the job after its last step. Returns the number of results.
  virtual std::size_t finish() = 0;
  /// Writes the result of input `index`, or throws the error of that input. Call once per input,
  /// after finish(): tensors are moved out.
  virtual void write(std::size_t index, ResultWriter& writer) = 0;
};

/// A job with results of a known type.
template <class Typed>
class TypedJob : public Job {
 public:
  /// Returns the results after the last step; replaces finish() and write().
  virtual Results<Typed> take() = 0;

  std::size_t finish() final {
    results_ = take();
    return results_.size();
  }
  void write(std::size_t index, ResultWriter& writer) final {
    if (const Error* error = std::get_if<Error>(&results_[index])) throw Error(*error);
    writer.object([&] { write_fields(writer, std::get<Typed>(results_[index])); });
  }

 private:
  virtual void write_fields(ResultWriter& writer, Typed& result) = 0;

  Results<Typed> results_;
};

/// Runs a job to its end and returns its results.
template <class Typed>
Results<Typed> run_all(TypedJob<Typed>& job) {
  while (job.step()) {
  }
  return job.take();
}

/// A copy of a text or of two texts.
struct OwnedText {
  explicit OwnedText(const TextInput& input) : text(input.text), pair(input.pair) {}

  TextInput input() const { return pair ? TextInput(text, *pair) : TextInput(text); }

  std::string text;
  std::optional<std::string> pair;
};

/// Throws `invalid_option` for inputs of another kind than the task's.
[[noreturn]] void refuse_kind();

/// The inputs of a call, all of one kind. They must live until the call returns.
using TaskInputs = std::variant<std::span<const TextInput>, std::span<const Picture>>;

/// Returns the inputs, if they are of this kind or there are none. Throws `invalid_option`.
template <class Input>
std::span<const Input> inputs_of(const TaskInputs& inputs) {
  if (const auto* of_kind = std::get_if<std::span<const Input>>(&inputs)) return *of_kind;
  if (!std::visit([](const auto& others) { return others.empty(); }, inputs)) refuse_kind();
  return {};
}

/// A model with everything that it needs to answer inputs.
class Pipeline {
 public:
  /// The tasks of a class of pipelines; empty: any task.
  static constexpr std::array<Task, 0> tasks = {};

  virtual ~Pipeline() = default;

  /// The model's parameters, for a WeightsLoader. All of them must be set before the pipeline is
  /// used.
  virtual std::vector<NamedParameter> parameters() = 0;
  virtual const ModelConfig& config() const = 0;
  virtual Compute compute() const = 0;
  /// The tokenizer of the texts that the model writes or, if it writes none, of those it reads.
  /// Null for a model without texts.
  virtual const Tokenizer* vocabulary() const { return nullptr; }

  /// Sets the number of threads that share the work of a call; at first one. Not while it is used.
  void set_threads(std::size_t threads) { sessions_->set_threads(threads); }
  Pool& thread_pool() { return sessions_->pool(); }
  /// Returns the session of the calling thread.
  Session& session() { return sessions_->mine(); }

  /// Gives explanations the model's dictionaries, or takes them away. Not while it is used.
  void set_dictionaries(std::shared_ptr<const DictionarySet> dictionaries) {
    dictionaries_ = std::move(dictionaries);
  }
  /// Throws `invalid_option` if there are none.
  const DictionarySet& dictionaries() const;

  /// Starts answering inputs. The inputs and options need to live only until this call returns.
  /// Throws `invalid_option`, naming the field. The pipeline must outlive the job. Any number of
  /// threads may run jobs at a time, each those that it began itself.
  virtual std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) = 0;

 protected:
  /// Makes another pipeline use the sessions of this one, of which it is a part.
  void share_sessions(Pipeline& part) { part.sessions_ = sessions_; }

 private:
  std::shared_ptr<Sessions> sessions_ = std::make_shared<Sessions>();
  std::shared_ptr<const DictionarySet> dictionaries_;
};

/// Returns views of the texts. Throws `invalid_option` for a pair.
std::vector<std::string_view> single_texts(std::span<const TextInput> texts);

/// Returns the displayed text of each token in the vocabulary, by id: Tokenizer::display_text.
std::string vocabulary_json(const Pipeline& pipeline);

/// Writes an error as {"error": {"code", "message", "field"?}}.
std::string to_json(const Error& error);

}  // namespace glassformer
