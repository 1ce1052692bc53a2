#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tasks/explain/explanation.hpp"
#include "tasks/explain/requests/request.hpp"
#include "tasks/pipeline.hpp"

// The base of the explanations of all tasks.

namespace glassformer {

/// The explanation of one input, step by step.
class ExplanationSteps {
 public:
  virtual ~ExplanationSteps() = default;

  /// Does the next piece of work. Returns whether any is left.
  virtual bool step() = 0;
  /// Returns the result after the last step, without its method.
  virtual ExplainedInput take() = 0;
  /// Returns the incomplete result of the steps so far, if it is requested.
  virtual std::optional<ExplainedInput> so_far() { return std::nullopt; }
};

/// Explains inputs, one after the other.
class ExplanationJob : public TypedJob<ExplainedInput> {
 public:
  /// `inputs`: their number.
  ExplanationJob(std::size_t inputs, std::string_view method) : method_(method), inputs_(inputs) {}

  bool step() override;
  bool show(ResultWriter& writer) override;
  Results<ExplainedInput> take() override { return std::move(results_); }

 protected:
  const std::string& method() const { return method_; }

 private:
  virtual std::unique_ptr<ExplanationSteps> begin(std::size_t index) = 0;
  void write_fields(ResultWriter& writer, ExplainedInput& result) override;

  std::string method_;
  std::size_t inputs_;
  std::unique_ptr<ExplanationSteps> steps_;
  Results<ExplainedInput> results_;
};

/// Explains texts.
class TextExplanations : public ExplanationJob {
 public:
  TextExplanations(std::span<const TextInput> texts, std::string_view method)
      : ExplanationJob(texts.size(), method), texts_(texts.begin(), texts.end()) {}

 private:
  std::unique_ptr<ExplanationSteps> begin(std::size_t index) final {
    return begin(texts_[index].input());
  }
  virtual std::unique_ptr<ExplanationSteps> begin(const TextInput& text) = 0;

  std::vector<OwnedText> texts_;
};

/// Returns the second of two texts. Throws `invalid_option` if there is only one.
std::string_view expect_donor(const TextInput& text);

/// Calls a function for one of the option more_pairs, whose errors name it.
void of_further_pair(std::size_t index, const std::function<void()>& call);

/// Sets the text of each token.
void name_guesses(std::vector<std::vector<Guess>>& guesses, const Tokenizer& tokenizer);

}  // namespace glassformer
