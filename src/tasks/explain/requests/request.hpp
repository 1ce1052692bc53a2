#pragma once

#include <string>
#include <variant>

#include "tasks/explain/requests/method_options.hpp"
#include "tasks/explain/requests/methods.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// A request for an explanation: a method, and the options that it has for a model.
struct ExplainRequest {
  const ExplanationMethod* method = nullptr;
  MethodOptions options = {};
  ModelOptions model = {};

  /// Returns a part of the options, or its defaults if the method does not have it.
  template <class Part>
  const Part& of() const {
    return part_of<Part>(options);
  }
  bool is(std::string_view name) const { return method->name == name; }
};

template <class Visit>
void fields(Visit& visit, ExplainRequest& request) {
  std::visit([&](auto& options) { fields(visit, options); }, request.options);
  std::visit([&](auto& options) { fields(visit, options); }, request.model);
}

/// Returns a request with the defaults of a method's options. Throws `invalid_option` for a method
/// that does not explain what the model answers, and `unsupported` for a model whose task has no
/// explanations.
ExplainRequest request_for(const Pipeline& pipeline, const std::string& method);
/// Reads the options of a request, among them `method`. Throws the errors of request_for, and
/// `invalid_option` for an option that the method does not have.
ExplainRequest read_explain_request(const Pipeline& pipeline, const TaskOptions& options);
/// Throws `invalid_option` unless the number, which selects `what`, is below `end`.
void expect_below(const char* option, const char* what, std::size_t number, std::size_t end);
/// Returns the options token, against and effects of a request whose ranges were checked.
NextAttributionOptions next_attribution_options(const ExplainRequest& request);

}  // namespace glassformer
