#include "glassformer/zero_shot_image_classifier.hpp"

#include "tasks/load.hpp"
#include "tasks/match/match.hpp"

namespace glassformer {

ZeroShotImageClassifier ZeroShotImageClassifier::load(const std::filesystem::path& folder,
                                                      const LoadOptions& options) {
  return ZeroShotImageClassifier(load_pipeline<MatchPipeline>(folder, options));
}

ZeroShotImageClassifier::ZeroShotImageClassifier(std::unique_ptr<MatchPipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
ZeroShotImageClassifier::ZeroShotImageClassifier(ZeroShotImageClassifier&&) noexcept = default;
ZeroShotImageClassifier& ZeroShotImageClassifier::operator=(ZeroShotImageClassifier&&) noexcept =
    default;
ZeroShotImageClassifier::~ZeroShotImageClassifier() = default;

Compute ZeroShotImageClassifier::compute() const { return pipeline_->compute(); }
float ZeroShotImageClassifier::scale() const { return pipeline_->dual().scale(); }

ImageMatch ZeroShotImageClassifier::classify(const Picture& picture, const MatchOptions& options) {
  return only(classify_batch(std::span(&picture, 1), options));
}

std::vector<std::variant<ImageMatch, Error>> ZeroShotImageClassifier::classify_batch(
    std::span<const Picture> pictures, const MatchOptions& options) {
  if (options.labels.empty()) refuse_option("labels", "expected at least one, got none");
  return run_all(*pipeline_->begin(pictures, options));
}

ImageMatch ZeroShotImageClassifier::embed_image(const Picture& picture,
                                                const MatchOptions& options) {
  if (!options.labels.empty()) refuse_option("labels", "expected none");
  return only(run_all(*pipeline_->begin(std::span(&picture, 1), options)));
}

Embedded ZeroShotImageClassifier::embed_text(std::string_view text, const EncoderOptions& options) {
  return pipeline_->texts().embed(text, {.encoder = options});
}

}  // namespace glassformer
