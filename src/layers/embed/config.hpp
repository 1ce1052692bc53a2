#pragma once

#include <array>
#include <cstddef>

#include "base/fields.hpp"

namespace glassformer {

/// The kind of position information: a table that is added to the embeddings; `relative`: an
/// attention bias by distance; `none`: nothing is added, as with rotary embeddings.
enum class PositionKind {
  sinusoidal,
  learned,
  sinusoidal_halves,
  relative,
  sinusoidal_endpoint,
  none
};

template <>
inline constexpr std::array enum_names<PositionKind>{
    "sinusoidal", "learned", "sinusoidal_halves", "relative", "sinusoidal_endpoint", "none"};

/// Input that consists of a picture's patches, each projected to d_model numbers.
struct PatchInput {
  std::size_t height = 0, width = 0, channels = 3;  ///< of the picture, in pixels
  std::size_t patch = 0;                            ///< height and width of a patch
  bool class_token = true;                          ///< a learned row before the patches

  /// Returns the number of rows of one picture.
  std::size_t rows() const {
    return patch == 0 ? 0 : (height / patch) * (width / patch) + (class_token ? 1 : 0);
  }
  bool operator==(const PatchInput&) const = default;
};

}  // namespace glassformer
