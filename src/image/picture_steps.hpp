#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "image/picture.hpp"
#include "image/resize.hpp"

namespace glassformer {

/// The file that describes the steps.
inline constexpr const char* picture_steps_name = "preprocessor_config.json";
/// The file that describes them in newer folders of models that also read texts, in a field of this
/// name. It comes first.
inline constexpr const char* processor_name = "processor_config.json";
inline constexpr const char* processor_field = "image_processor";

/// The classes of the library transformers whose steps are known here.
enum class PictureProcessor { vit, deit, clip };

/// How a picture becomes a model's input, in this order.
///
/// The reference is the library's class that uses Pillow, to the bit. Its class that uses
/// torchvision ("Fast" until version 5) resizes with other roundings.
struct PictureSteps {
  struct Size {
    std::size_t height, width;
    bool operator==(const Size&) const = default;
  };

  bool resizes = true;
  Size size = {224, 224};
  /// If set, replaces `size`: the length of the shorter side. The proportions stay.
  std::optional<std::size_t> shortest_edge = {};
  Resampling resampling = Resampling::bilinear;
  bool crops = false;  ///< cuts out the center; where the picture is smaller, zeros are added
  Size crop = {224, 224};
  bool rescales = true;
  double factor = 1.0 / 255;
  bool normalizes = true;
  /// Per channel. A single number is that of all channels.
  std::vector<float> mean = {0.5f}, deviation = {0.5f};

  /// Returns the size after the last step, or nothing if it depends on the picture.
  std::optional<Size> final_size() const;

  bool operator==(const PictureSteps&) const = default;
};

/// Returns the steps of a class for which no file says anything else.
PictureSteps usual_picture_steps(PictureProcessor processor);

/// Reads a preprocessor_config.json, or the object that is in place of it in the file `name`. A
/// field that is absent or null has the default of the class that the file names or, if it names
/// none, of `usual`. Throws `invalid_config`, and `unsupported` for another class and for steps
/// that are not known here.
PictureSteps read_picture_steps(std::string_view json, PictureProcessor usual,
                                const char* name = picture_steps_name);

/// Returns a preprocessor_config.json from which read_picture_steps restores the steps.
std::string to_json(const PictureSteps& steps);

/// A picture after all steps.
struct PreparedPicture {
  std::vector<float> values;  ///< [channels, height, width]
  std::size_t height, width;
  PictureRegion region;  ///< the part of the original picture that the values cover
};

/// Prepares a picture for a model with 1 or 3 channels. Gray is repeated in each channel; colors
/// become gray as in Pillow. Throws the errors of check_picture, and `too_large` if the resized
/// picture would be over the limits.
PreparedPicture prepare(const Picture& picture, const PictureSteps& steps, std::size_t channels);

}  // namespace glassformer
