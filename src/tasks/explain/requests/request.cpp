#include "tasks/explain/requests/request.hpp"

#include <optional>

namespace glassformer {
namespace {

Answered answered_by(Task task) {
  switch (task) {
    case Task::text_classification:
      return Answered::text;
    case Task::image_classification:
    case Task::zero_shot_image_classification:
      return Answered::picture;
    case Task::translation:
      return Answered::translation;
    case Task::text_generation:
    case Task::text2text_generation:
      return Answered::next_token;
    case Task::feature_extraction:
    case Task::fill_mask:
    case Task::token_classification:
    case Task::question_answering:
      return Answered::states;
    default:
      throw_error(ErrorCode::unsupported,
                  {"explain: expected a model that reads or writes texts or pictures, got one for "
                   "{}",
                   {to_string(task)}});
  }
}

}  // namespace

ExplainRequest request_for(const Pipeline& pipeline, const std::string& method) {
  const Task task = pipeline.config().task;
  const Answered answered = answered_by(task);
  const ExplanationMethod& found = expect_method(method, answered);
  PartSet parts = found.options_for(answered);
  if (task != Task::zero_shot_image_classification) parts &= ~set_of<MatchedLabels>;
  return {.method = &found, .parts = parts};
}

ExplainRequest read_explain_request(const Pipeline& pipeline, const TaskOptions& options) {
  OptionsReader reader(options);
  std::string method;
  reader("method", method);
  ExplainRequest request = request_for(pipeline, method);
  fields(reader, request);
  reader.finish();
  return request;
}

void expect_below(const char* option, const char* what, std::size_t number, std::size_t end) {
  if (number < end) return;
  refuse_option(option, {"expected {}, below {}, got {}", {what, end, number}});
}

std::optional<std::int32_t> to_id(const std::optional<std::size_t>& number) {
  if (!number) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

NextAttributionOptions next_attribution_options(const ExplainRequest& request) {
  return {.token = to_id(request.options.token),
          .against = to_id(request.options.against),
          .effects = request.options.effects,
          .loadings = request.options.loadings};
}

EdgeCircuitOptions edge_circuit_options(const ExplainOptions& options) {
  return {.metric = options.metric,
          .ablation = options.ablation,
          .steps = options.steps,
          .edge_count = options.edge_count,
          .least = options.least,
          .cut = options.cut_edges,
          .orders = options.random_circuits,
          .seed = options.seed};
}

}  // namespace glassformer
