#include "tasks/explain/explanation_job.hpp"

#include "run/tape.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

bool ExplanationJob::step() {
  if (results_.size() == inputs_) return false;
  try {
    if (!steps_) steps_ = begin(results_.size());
    if (steps_->step()) return true;
    ExplainedInput result = steps_->take();
    result.method = method_;
    results_.emplace_back(std::move(result));
  } catch (const Error& error) {
    results_.emplace_back(error);
  }
  steps_.reset();
  return results_.size() < inputs_;
}

bool ExplanationJob::show(ResultWriter& writer) {
  if (!steps_) return false;
  std::optional<ExplainedInput> result = steps_->so_far();
  if (!result) return false;
  result->method = method_;
  writer.object([&] { write_fields(writer, *result); });
  return true;
}

void ExplanationJob::write_fields(ResultWriter& writer, ExplainedInput& result) {
  fields(writer, result);
}

std::string_view expect_donor(const TextInput& text) {
  if (text.pair) return *text.pair;
  throw_error(ErrorCode::invalid_option, "pair: expected two texts, got one");
}

void of_further_pair(std::size_t index, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    throw_error(error.code(), {"{}[{}]: {}", {Field("more_pairs"), index, error.what()}});
  }
}

void name_guesses(std::vector<std::vector<Guess>>& guesses, const Tokenizer& tokenizer) {
  for (std::vector<Guess>& row : guesses) {
    for (Guess& guess : row) guess.text = tokenizer.display_text(guess.id);
  }
}

}  // namespace glassformer
