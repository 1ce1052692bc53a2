#include "glassformer/translator.hpp"

#include "tasks/load.hpp"
#include "tasks/steer.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {

Translator Translator::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return Translator(load_pipeline<TranslatePipeline>(folder, options));
}

Translator::Translator(std::unique_ptr<TranslatePipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;
Translator::~Translator() = default;

const std::string& Translator::source_language() const {
  return pipeline_->config().source_language;
}
const std::string& Translator::target_language() const {
  return pipeline_->config().target_language;
}
std::vector<std::string> Translator::languages() const {
  std::vector<std::string> codes;
  for (const Language& language : pipeline_->languages()) codes.push_back(language.code);
  return codes;
}
Compute Translator::compute() const { return pipeline_->compute(); }

Translation Translator::translate(std::string_view text, const TranslateOptions& options) {
  return pipeline_->translate(text, options);
}

std::vector<std::variant<Translation, Error>> Translator::translate_batch(
    const Texts& texts, const TranslateOptions& options) {
  return pipeline_->translate_batch(texts.items(), options);
}

Translation Translator::stream(std::string_view text,
                               const std::function<void(TranslationStep)>& on_step,
                               const TranslateOptions& options) {
  TranslateOptions streaming = options;
  streaming.stream = true;
  const auto job = pipeline_->begin(std::span(&text, 1), streaming);
  for (bool more = true; more;) {
    more = job->step();
    const std::optional<StreamedToken>& step = job->streamed();
    if (step) on_step({step->token, job->text(step->text), step->decoder, step->cross});
  }
  return only(job->take());
}

SteeringVector Translator::steering_vector(const SteeringRequest& request, const Texts& toward,
                                           const Texts& away) {
  return glassformer::steering_vector(*pipeline_, request, toward.items(), away.items());
}

}  // namespace glassformer
