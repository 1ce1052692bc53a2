#include "glassformer/token_classifier.hpp"

#include "tasks/load.hpp"
#include "tasks/steer.hpp"
#include "tasks/tag/token_classify.hpp"

namespace glassformer {

TokenClassifier TokenClassifier::load(const std::filesystem::path& folder,
                                      const LoadOptions& options) {
  return TokenClassifier(load_pipeline<TokenClassifyPipeline>(folder, options));
}

TokenClassifier::TokenClassifier(std::unique_ptr<TokenClassifyPipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
TokenClassifier::TokenClassifier(TokenClassifier&&) noexcept = default;
TokenClassifier& TokenClassifier::operator=(TokenClassifier&&) noexcept = default;
TokenClassifier::~TokenClassifier() = default;

const std::vector<std::string>& TokenClassifier::labels() const {
  return pipeline_->config().labels;
}
Compute TokenClassifier::compute() const { return pipeline_->compute(); }

TokenClassification TokenClassifier::classify(std::string_view text,
                                              const TokenClassifyOptions& options) {
  return pipeline_->classify(text, options);
}

std::vector<std::variant<TokenClassification, Error>> TokenClassifier::classify_batch(
    const Texts& texts, const TokenClassifyOptions& options) {
  return pipeline_->classify_batch(texts.items(), options);
}

SteeringVector TokenClassifier::steering_vector(const SteeringRequest& request, const Texts& toward,
                                                const Texts& away) {
  return glassformer::steering_vector(*pipeline_, request, toward.items(), away.items());
}

}  // namespace glassformer
