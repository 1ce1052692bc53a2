#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "image/picture.hpp"

namespace glassformer {

class ImagePipeline;

/// Options of an ImageClassifier's calls.
struct ImageOptions {
  /// The tokens that `mask_tokens` and patches refer to are the rows of the attention: first the
  /// special ones, then the patches row by row.
  EncoderOptions encoder = {};
  /// How many labels to return, those with the highest scores. Default: all, in the order of the
  /// model.
  std::optional<std::size_t> top_k = {};
  /// Accept a picture that has, after its preparation, another size than the model's: the model's
  /// learned positions are interpolated. Without this, such a picture is refused.
  bool interpolate = false;
  /// Resize pictures to this height and width instead of what the model's folder says, without
  /// cropping. Other sizes than the model's need `interpolate`.
  std::optional<std::array<std::size_t, 2>> size = {};
};

/// The rows of a picture's attention.
struct PatchGrid {
  std::size_t rows = 0, columns = 0;      ///< of patches
  std::vector<std::string> special = {};  ///< the rows before the patches: "[CLS]", "[DIST]"

  /// Returns the number of rows of the attention.
  std::size_t tokens() const { return special.size() + rows * columns; }
};

/// The labels of a picture of T rows: the special ones, then the patches row by row. The model has
/// L layers with H heads, and C labels.
struct ImageClassification {
  std::string label;  ///< the label with the highest score
  float score;        ///< score of that label
  /// [C] in the order of ImageClassifier::labels: probabilities that sum to 1. If several labels
  /// may apply at once: a separate probability for each. If the model estimates a quantity: the
  /// logits.
  std::vector<float> scores;
  std::vector<float> logits;      ///< [C] the logits behind the scores
  std::vector<std::size_t> best;  ///< with `top_k`: the labels with the highest scores, best first
  PatchGrid grid;
  PictureRegion region;                   ///< the part of the picture that the grid covers
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
  std::vector<float> contributions;       ///< [T, C]; empty if not requested
};

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
