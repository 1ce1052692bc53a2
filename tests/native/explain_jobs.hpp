#pragma once

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tasks/explain/explain.hpp"

namespace glassformer::test {

/// All texts, explained to the end.
inline std::vector<Outcome> explain(Pipeline& pipeline, const std::vector<TextInput>& texts,
                                    const std::string& options,
                                    ResultForm form = ResultForm::json) {
  const auto job = begin_explanation(pipeline, texts, options, form);
  while (job->step()) {
  }
  return job->end();
}

/// One, as JSON. Fails the running test where it cannot be explained.
inline nlohmann::json explain_one(Pipeline& pipeline, const TextInput& text,
                                  const std::string& options) {
  const std::vector<Outcome> outcomes = explain(pipeline, {text}, options);
  REQUIRE(outcomes.size() == 1);
  if (const Error* error = std::get_if<Error>(&outcomes[0])) FAIL(error->what());
  return nlohmann::json::parse(std::get<Result>(outcomes[0]).text);
}

}  // namespace glassformer::test
