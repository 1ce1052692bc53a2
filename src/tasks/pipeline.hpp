#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "families/model_config.hpp"
#include "glassformer/text_input.hpp"
#include "linked.hpp"
#include "run/trace.hpp"
#include "tasks/options.hpp"
#include "text/tokenizer.hpp"
#include "weights/loader.hpp"

// What the command line and the binding drive, whatever the task.

namespace glassformer {

/// What a text became.
struct Result {
  std::string text;                        ///< in the form that was asked for
  std::vector<TracedTensor> tensors = {};  ///< those that are not in the text
  /// Of a line for people: the text had more tokens than the model read.
  bool clipped = false;
};

/// Each text alone.
inline std::vector<TextInput> to_inputs(std::span<const std::string_view> texts) {
  return {texts.begin(), texts.end()};
}

/// A text's result, or why it has none.
using Outcome = std::variant<Result, Error>;

/// What `to_result` makes of each result that there is.
template <class Typed, class ToResult>
std::vector<Outcome> to_outcomes(std::vector<std::variant<Typed, Error>> results,
                                 const ToResult& to_result) {
  std::vector<Outcome> outcomes;
  for (auto& result : results) {
    if (const Error* error = std::get_if<Error>(&result)) {
      outcomes.emplace_back(*error);
    } else {
      outcomes.emplace_back(to_result(std::get<Typed>(std::move(result))));
    }
  }
  return outcomes;
}

/// The first of several results, or its error.
template <class Typed>
Typed only(std::vector<std::variant<Typed, Error>> results) {
  if (const Error* error = std::get_if<Error>(&results[0])) throw Error(*error);
  return std::get<Typed>(std::move(results[0]));
}

/// What a result's text is. The first two are printed: see links_printing.
enum class ResultForm {
  line,  ///< for people: one line
  json,  ///< for programs: one JSON object, its tensors as base64 in it
  /// One JSON object, and its tensors beside it by name:
  ///
  ///   attention.encoder, attention.decoder, attention.cross   [layers, heads, queries, keys]
  ///   contributions                                           [tokens, classes]
  ///   trace.encoder.layers.0.input                            and whatever else was asked for
  ///   sentences.0.attention.cross                             of what is in an array of the object
  json_and_tensors,
};
inline bool is_line(ResultForm form) { return links_printing() && form == ResultForm::line; }

/// Some texts on their way through a pipeline. A caller may show what comes, pause or give up
/// between any two steps.
class Job {
 public:
  virtual ~Job() = default;

  /// Does the next piece of work. Returns whether any is left.
  virtual bool step() = 0;
  /// What the last step has to show, such as a token of a stream.
  virtual std::optional<Result> progress() { return std::nullopt; }
  /// What each text became, in their order; once, after the last step.
  virtual std::vector<Outcome> end() = 0;
};

/// A model and what it takes to answer texts with it.
class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// The model's parameters, for a WeightsLoader; a pipeline answers once all of them are set.
  virtual std::vector<NamedParameter> parameters() = 0;
  virtual const ModelConfig& config() const = 0;
  virtual Compute compute() const = 0;
  /// Of what the model writes or, where it writes nothing, of what it reads.
  virtual const Tokenizer& tokenizer() const = 0;

  /// Starts on some texts; they and the options need to live for the call only. Throws
  /// `invalid_option` naming the field. The pipeline outlives the job, and works on one step of one
  /// job at a time.
  virtual std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                                     ResultForm form) = 0;
};

/// What a pipeline's model is: {task, labels, layers, heads, …, parameters, ignored_tensors,
/// compute}. `ignored`: names of the tensors in its files that it does without.
std::string describe_json(const Pipeline& pipeline, std::size_t parameters,
                          std::span<const std::string> ignored);

/// What every token of a vocabulary reads as, by its id: Tokenizer::display_text.
std::string vocabulary_json(const Pipeline& pipeline);

/// {"error": {"code", "message"}}
std::string to_json(const Error& error);

}  // namespace glassformer
