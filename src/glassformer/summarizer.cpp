#include "glassformer/summarizer.hpp"

#include "tasks/generate/generate.hpp"
#include "tasks/load.hpp"

namespace glassformer {

Summarizer Summarizer::load(const std::filesystem::path& folder, const LoadOptions& options) {
  std::unique_ptr<Pipeline> pipeline = load_pipeline(folder, summarizers, options);
  return Summarizer(
      std::unique_ptr<GeneratePipeline>(static_cast<GeneratePipeline*>(pipeline.release())));
}

Summarizer::Summarizer(std::unique_ptr<GeneratePipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
Summarizer::Summarizer(Summarizer&&) noexcept = default;
Summarizer& Summarizer::operator=(Summarizer&&) noexcept = default;
Summarizer::~Summarizer() = default;

Compute Summarizer::compute() const { return pipeline_->compute(); }

Generation Summarizer::summarize(std::string_view text, const GenerateOptions& options) {
  return only(summarize_batch({text}, options));
}

std::vector<std::variant<Generation, Error>> Summarizer::summarize_batch(
    const Texts& texts, const GenerateOptions& options) {
  return run_all(*pipeline_->begin(texts.items(), summarizing(options, pipeline_->config())));
}

}  // namespace glassformer
