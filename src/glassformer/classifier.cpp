#include "glassformer/classifier.hpp"

#include "tasks/classify/classify.hpp"
#include "tasks/load.hpp"
#include "tasks/steer.hpp"

namespace glassformer {

Classifier Classifier::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return Classifier(load_pipeline<ClassifyPipeline>(folder, options));
}

Classifier::Classifier(std::unique_ptr<ClassifyPipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;
Classifier::~Classifier() = default;

const std::vector<std::string>& Classifier::labels() const { return pipeline_->config().labels; }
Compute Classifier::compute() const { return pipeline_->compute(); }

Classification Classifier::classify(const TextInput& text, const ClassifyOptions& options) {
  return pipeline_->classify(text, options);
}

std::vector<std::variant<Classification, Error>> Classifier::classify_batch(
    const TextInputs& texts, const ClassifyOptions& options) {
  return pipeline_->classify_batch(texts.items(), options);
}

SteeringVector Classifier::steering_vector(const SteeringRequest& request, const Texts& toward,
                                           const Texts& away) {
  return glassformer::steering_vector(*pipeline_, request, toward.items(), away.items());
}

}  // namespace glassformer
