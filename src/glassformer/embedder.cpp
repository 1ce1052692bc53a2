#include "glassformer/embedder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/load.hpp"
#include "tasks/steer.hpp"

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

float Embedder::similarity(std::span<const float> a, std::span<const float> b) const {
  return glassformer::similarity(a, b, pipeline_->config().vectors.similarity);
}

float similarity(std::span<const float> a, std::span<const float> b, Similarity measure) {
  if (a.size() != b.size()) {
    throw_error(
        ErrorCode::invalid_option,
        {"similarity: expected vectors of one size, got {} and {} numbers", {a.size(), b.size()}});
  }
  const auto dot = [](std::span<const float> x, std::span<const float> y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0, std::plus<>(),
                              [](double one, double other) { return one * other; });
  };
  if (measure == Similarity::dot) return static_cast<float>(dot(a, b));
  if (measure != Similarity::cosine) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      sum += measure == Similarity::euclidean ? apart * apart : std::abs(apart);
    }
    return static_cast<float>(-(measure == Similarity::euclidean ? std::sqrt(sum) : sum));
  }
  const auto norm = [&](std::span<const float> x) {
    constexpr double least = 1e-12;
    return std::max(std::sqrt(dot(x, x)), least);
  };
  return static_cast<float>(dot(a, b) / (norm(a) * norm(b)));
}

SteeringVector Embedder::steering_vector(const SteeringRequest& request, const Texts& toward,
                                         const Texts& away) {
  return glassformer::steering_vector(*pipeline_, request, toward.items(), away.items());
}

}  // namespace glassformer
