#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "api/tasks/image.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "image/picture.hpp"

namespace glassformer {

class ImagePipeline;

/// Assigns a label to a picture. Any number of threads may call it at a time.
class ImageClassifier {
 public:
  /// Opens a model folder, in this project's format or a published one. Throws the same errors as
  /// Classifier::load.
  static ImageClassifier load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit ImageClassifier(std::unique_ptr<ImagePipeline> pipeline);
  ImageClassifier(ImageClassifier&&) noexcept;
  ImageClassifier& operator=(ImageClassifier&&) noexcept;
  ~ImageClassifier();

  /// The labels, in the order of the model's outputs.
  const std::vector<std::string>& labels() const;
  Compute compute() const;

  /// Classifies a picture. It is resized, cropped and scaled as the model's folder says, with the
  /// same bytes as in the library transformers with Pillow. Throws `empty_input` for a picture
  /// without pixels, `too_large`, `invalid_option` for a wrong number of bytes, channels or an
  /// option that does not exist, and `non_finite` if a logit is not finite.
  ImageClassification classify(const Picture& picture, const ImageOptions& options = {});

  /// Classifies several pictures, in fewer and larger steps. An error in one picture does not
  /// affect the others.
  std::vector<std::variant<ImageClassification, Error>> classify_batch(
      std::span<const Picture> pictures, const ImageOptions& options = {});

  /// Decodes a PNG, JPEG or WebP file, turned as its EXIF data says. Alpha is dropped, and of an
  /// animation this is the first frame. Throws `unsupported` for another format, `invalid_picture`
  /// for a broken file, `empty_input` and `too_large`.
  static Picture decode(std::span<const std::uint8_t> file);

 private:
  std::unique_ptr<ImagePipeline> pipeline_;
};

}  // namespace glassformer
