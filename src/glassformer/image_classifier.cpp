#include "glassformer/image_classifier.hpp"

#include "image/decode/decode.hpp"
#include "tasks/image/image.hpp"
#include "tasks/load.hpp"

namespace glassformer {

ImageClassifier ImageClassifier::load(const std::filesystem::path& folder,
                                      const LoadOptions& options) {
  return ImageClassifier(load_pipeline<ImagePipeline>(folder, options));
}

ImageClassifier::ImageClassifier(std::unique_ptr<ImagePipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
ImageClassifier::ImageClassifier(ImageClassifier&&) noexcept = default;
ImageClassifier& ImageClassifier::operator=(ImageClassifier&&) noexcept = default;
ImageClassifier::~ImageClassifier() = default;

const std::vector<std::string>& ImageClassifier::labels() const {
  return pipeline_->config().labels;
}
Compute ImageClassifier::compute() const { return pipeline_->compute(); }

ImageClassification ImageClassifier::classify(const Picture& picture, const ImageOptions& options) {
  return pipeline_->classify(picture, options);
}

std::vector<std::variant<ImageClassification, Error>> ImageClassifier::classify_batch(
    std::span<const Picture> pictures, const ImageOptions& options) {
  return pipeline_->classify_batch(pictures, options);
}

Picture ImageClassifier::decode(std::span<const std::uint8_t> file) { return decode_picture(file); }

}  // namespace glassformer
