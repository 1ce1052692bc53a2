#include "glassformer/embedder.hpp"

#include "tasks/embed/embed.hpp"
#include "tasks/load.hpp"

namespace glassformer {

Embedder Embedder::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return Embedder(load_pipeline<EmbedPipeline>(folder, options));
}

Embedder::Embedder(std::unique_ptr<EmbedPipeline> pipeline) : pipeline_(std::move(pipeline)) {}
Embedder::Embedder(Embedder&&) noexcept = default;
Embedder& Embedder::operator=(Embedder&&) noexcept = default;
Embedder::~Embedder() = default;

Compute Embedder::compute() const { return pipeline_->compute(); }

Embedded Embedder::embed(std::string_view text, const EmbedOptions& options) {
  return pipeline_->embed(text, options);
}

std::vector<std::variant<Embedded, Error>> Embedder::embed_batch(const Texts& texts,
                                                                 const EmbedOptions& options) {
  return pipeline_->embed_batch(texts.items(), options);
}

}  // namespace glassformer
