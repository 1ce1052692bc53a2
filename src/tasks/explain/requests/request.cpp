#include "tasks/explain/requests/request.hpp"

#include <optional>
#include <utility>

namespace glassformer {
namespace {

// What a model answers, and the options that all methods have for it.
std::pair<Answered, ModelOptions> subject_of(Task task) {
  switch (task) {
    case Task::text_classification:
      return {Answered::text, NoOptions()};
    case Task::image_classification:
      return {Answered::picture, PictureSize()};
    case Task::zero_shot_image_classification:
      return {Answered::picture, Joined<PictureSize, MatchedLabels>()};
    case Task::translation:
      return {Answered::translation, Languages()};
    case Task::text_generation:
    case Task::text2text_generation:
      return {Answered::next_token, NoOptions()};
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
  auto [answered, model] = subject_of(pipeline.config().task);
  const ExplanationMethod& found = expect_method(method, answered);
  return {&found, found.options_for(answered), std::move(model)};
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
  const auto& compared = request.of<ComparedTokens>();
  return {.token = id_of(compared.token),
          .against = id_of(compared.against),
          .effects = request.of<ColumnEffects>().effects};
}

}  // namespace glassformer
