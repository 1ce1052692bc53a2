#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tasks/explain/requests/method_options.hpp"
#include "tasks/explain/requests/methods.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// A request for an explanation.
struct ExplainRequest {
  const ExplanationMethod* method = nullptr;
  PartSet parts = 0;  ///< which options there are: those of the method for the model
  ExplainOptions options = {};

  bool is(std::string_view name) const { return method->name == name; }
};

template <class Visit>
void fields(Visit& visit, ExplainRequest& request) {
  part_fields(visit, request.options, request.parts);
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
/// Returns the number of an option that is in the range of ids.
std::optional<std::int32_t> to_id(const std::optional<std::size_t>& number);
/// Returns the options token, against and effects of a request whose ranges were checked.
NextAttributionOptions next_attribution_options(const ExplainRequest& request);
/// Returns the options of a circuit between two texts.
EdgeCircuitOptions edge_circuit_options(const ExplainOptions& options);

}  // namespace glassformer
