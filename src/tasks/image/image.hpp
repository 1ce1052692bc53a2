#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "api/tasks/image.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// A picture as a model reads it, and where its rows are on the picture.
struct ReadPicture {
  EncoderInput input;
  PatchGrid grid;
  PictureRegion region;
};

/// Throws `invalid_config` if the steps of a model for pictures do not fit its channels.
void check_picture_steps(const ModelConfig& config);

/// Prepares a picture for a model. `interpolate` and `size`: see ImageOptions. Throws the errors of
/// `prepare`, and `invalid_option` for a size that the model does not read.
ReadPicture read_picture(const Picture& picture, const ModelConfig& config, bool interpolate,
                         std::optional<std::array<std::size_t, 2>> size);

/// Labels a picture.
class ImagePipeline final : public EncoderPipeline {
 public:
  using Typed = ImageClassification;
  using Options = ImageOptions;
  static constexpr std::array tasks = {Task::image_classification};

  /// Throws `wrong_task` unless the configuration describes a classifier of pictures, and
  /// `invalid_config` if its steps do not fit the model's channels.
  explicit ImagePipeline(ModelConfig config, Compute compute = Compute::f32);

  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<ImageClassification>> begin(std::span<const Picture> pictures,
                                                       const ImageOptions& options);

  ImageClassification classify(const Picture& picture, const ImageOptions& options = {});
  Results<ImageClassification> classify_batch(std::span<const Picture> pictures,
                                              const ImageOptions& options = {});

  /// Prepares a picture; see read_picture.
  ReadPicture read(const Picture& picture, const ImageOptions& options = {}) const {
    return read_picture(picture, config(), options.interpolate, options.size);
  }
};

}  // namespace glassformer
