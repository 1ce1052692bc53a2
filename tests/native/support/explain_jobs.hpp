#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "tasks/embedded_tensors.hpp"
#include "tasks/explain/explain.hpp"

namespace glassformer::test {

/// Explains all texts and returns the job after its last step.
inline std::unique_ptr<Job> run_explanation(Pipeline& pipeline, const std::vector<TextInput>& texts,
                                            const std::string& options) {
  std::unique_ptr<Job> job = begin_explanation_job(pipeline, {texts}, options);
  while (job->step()) {
  }
  return job;
}

/// Explains all texts and returns the JSON or the error of each.
inline std::vector<std::variant<std::string, Error>> explain(Pipeline& pipeline,
                                                             const std::vector<TextInput>& texts,
                                                             const std::string& options) {
  return results_as_json(*run_explanation(pipeline, texts, options));
}

/// Explains one text and returns the JSON. Fails the running test if the text cannot be explained.
inline nlohmann::json explain_one(Pipeline& pipeline, const TextInput& text,
                                  const std::string& options) {
  const auto outcomes = explain(pipeline, {text}, options);
  REQUIRE(outcomes.size() == 1);
  if (const Error* error = std::get_if<Error>(&outcomes[0])) FAIL(error->what());
  return nlohmann::json::parse(std::get<std::string>(outcomes[0]));
}

/// The JSON of an explanation, and its tensors.
struct ExplainedBeside {
  nlohmann::json json;
  std::vector<TracedTensor> tensors;
};

/// Explains one text. Fails the running test if the text cannot be explained.
inline ExplainedBeside explain_beside(Pipeline& pipeline, const TextInput& text,
                                      const std::string& options) {
  const std::unique_ptr<Job> job = run_explanation(pipeline, {text}, options);
  REQUIRE(job->finish() == 1);
  TensorsBeside writer;
  job->write(0, writer);
  return {nlohmann::json::parse(writer.take()), writer.take_tensors()};
}

}  // namespace glassformer::test
