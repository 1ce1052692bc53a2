#pragma once

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tasks/explain/explain.hpp"

namespace glassformer::test {

/// Explains all texts and returns their outcomes.
inline std::vector<Outcome> explain(Pipeline& pipeline, const std::vector<TextInput>& texts,
                                    const std::string& options,
                                    ResultForm form = ResultForm::json) {
  const auto job = begin_explanation(pipeline, texts, options, form);
  while (job->step()) {
  }
  return job->end();
}

/// Explains one text and returns the JSON. Fails the running test if the text cannot be explained.
inline nlohmann::json explain_one(Pipeline& pipeline, const TextInput& text,
                                  const std::string& options) {
  const std::vector<Outcome> outcomes = explain(pipeline, {text}, options);
  REQUIRE(outcomes.size() == 1);
  if (const Error* error = std::get_if<Error>(&outcomes[0])) FAIL(error->what());
  return nlohmann::json::parse(std::get<Result>(outcomes[0]).text);
}

}  // namespace glassformer::test
