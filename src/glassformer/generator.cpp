#include "glassformer/generator.hpp"

#include "tasks/generate/generate.hpp"
#include "tasks/load.hpp"
#include "tasks/steer.hpp"

namespace glassformer {

Generator Generator::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return Generator(load_pipeline<GeneratePipeline>(folder, options));
}

Generator::Generator(std::unique_ptr<GeneratePipeline> pipeline) : pipeline_(std::move(pipeline)) {}
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

Compute Generator::compute() const { return pipeline_->compute(); }

const ChatConfig& Generator::chat() const { return pipeline_->config().chat; }

Generation Generator::generate(std::string_view text, const GenerateOptions& options) {
  return only(generate_batch({text}, options));
}

std::vector<std::variant<Generation, Error>> Generator::generate_batch(
    const Texts& texts, const GenerateOptions& options) {
  return run_all(*pipeline_->begin(texts.items(), options));
}

Generation Generator::stream(std::string_view text,
                             const std::function<void(GenerationStep)>& on_step,
                             const GenerateOptions& options) {
  GenerateOptions streaming = options;
  streaming.stream = true;
  const auto job = pipeline_->begin(std::span(&text, 1), streaming);
  for (bool more = true; more;) {
    more = job->step();
    if (job->streamed()) on_step(*job->streamed());
  }
  return only(job->take());
}

Prediction Generator::next(std::string_view text, const NextOptions& options) {
  return only(run_all(*pipeline_->begin(std::span(&text, 1), options)));
}

SteeringVector Generator::steering_vector(const SteeringRequest& request, const Texts& toward,
                                          const Texts& away) {
  return glassformer::steering_vector(*pipeline_, request, toward.items(), away.items());
}

}  // namespace glassformer
