#include "tasks/explain/requests/request.hpp"

#include <optional>
#include <utility>

namespace glassformer {
namespace {

// What a model answers, and the options that all methods have for it.
std::pair<Answered, PartSet> subject_of(Task task) {
  switch (task) {
    case Task::text_classification:
      return {Answered::text, 0};
    case Task::image_classification:
      return {Answered::picture, set_of<PictureSize>};
    case Task::zero_shot_image_classification:
      return {Answered::picture, set_of<PictureSize, MatchedLabels>};
    case Task::translation:
      return {Answered::translation, set_of<Languages>};
    case Task::text_generation:
    case Task::text2text_generation:
      return {Answered::next_token, 0};
    default:
      throw_error(
          ErrorCode::unsupported,
          {"explain: expected a model that classifies texts or pictures, translates, continues or "
           "answers texts, got one for {}",
           {to_string(task)}});
  }
}

std::optional<std::int32_t> id_of(const std::optional<std::size_t>& number) {
  if (!number) return std::nullopt;
  return static_cast<std::int32_t>(*number);  // within its range
}

}  // namespace

ExplainRequest request_for(const Pipeline& pipeline, const std::string& method) {
  const auto [answered, common] = subject_of(pipeline.config().task);
  const ExplanationMethod& found = expect_method(method, answered);
  return {.method = &found, .parts = found.options_for(answered) | common};
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

NextAttributionOptions next_attribution_options(const ExplainRequest& request) {
  return {.token = id_of(request.options.token),
          .against = id_of(request.options.against),
          .effects = request.options.effects};
}

}  // namespace glassformer
