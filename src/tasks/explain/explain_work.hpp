#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "glassformer/explain.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/result_writer.hpp"

// What explanations of all tasks have in common.

namespace glassformer {

/// One text's explanation on its way.
class ExplainWork {
 public:
  virtual ~ExplainWork() = default;

  /// Does the next piece; returns whether any is left.
  virtual bool step() = 0;
  /// All fields of the result but its method, and its tensors.
  virtual void write(ResultWriter& json) const = 0;
  /// The result as one line.
  virtual std::string line() const = 0;
};

/// Texts that are explained one after the other.
class ExplainJob : public Job {
 public:
  ExplainJob(std::span<const TextInput> texts, std::string method, ResultForm form);

  bool step() override;
  std::vector<Outcome> end() override { return std::move(outcomes_); }

 protected:
  const std::string& method() const { return method_; }

 private:
  virtual std::unique_ptr<ExplainWork> begin(const TextInput& text) = 0;
  Result result() const;

  struct Text {
    std::string text;
    std::optional<std::string> pair;
  };

  std::string method_;
  ResultForm form_;
  std::vector<Text> texts_;
  std::unique_ptr<ExplainWork> work_;
  std::vector<Outcome> outcomes_;
};

void write_numbers(JsonWriter& json, std::string_view name, const std::vector<float>& numbers);
void write_number(JsonWriter& json, std::string_view name, double number);
std::string decimal(double number);

/// The fields scores, rollout.
void write(ResultWriter& json, const Rollout& rollout);
/// The fields scores, heads, layers.
void write(ResultWriter& json, const ValueNorms& norms, const std::vector<float>& scores);
/// The fields value, columns, effects?, written, read.
void write(ResultWriter& json, const Ledger& ledger);
/// The same, and the fields token, against.
void write(ResultWriter& json, const NextLedger& ledger);
/// {id, text, logprob}
void write(JsonWriter& json, const Guess& guess);
/// The field layers: of each layer and row [{id, text, logprob}].
void write(JsonWriter& json, const NextLens& lens);

/// "value=1.234567", and of each column what it writes, tabs between.
std::string line_of(const Ledger& ledger);
/// "film=0.123456" of every token, tabs between.
std::string line_of(const std::vector<InputToken>& tokens, const std::vector<float>& scores);

/// Puts in each token's text.
void name_guesses(std::vector<std::vector<Guess>>& guesses, const Tokenizer& tokenizer);

}  // namespace glassformer
