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
  std::size_t patch_height = 0, patch_width = 0;
  bool class_token = true;          ///< a learned row before the patches
  bool distillation_token = false;  ///< a second learned row before the patches
  bool bias = true;                 ///< of the projection
  bool norm = false;                ///< a norm on the sum of all embeddings

  /// The numbers of patches below each other and side by side. Pixels that do not fill a patch are
  /// not read.
  std::size_t grid_rows() const { return patch_height == 0 ? 0 : height / patch_height; }
  std::size_t grid_columns() const { return patch_width == 0 ? 0 : width / patch_width; }
  /// Returns the number of learned rows before the patches.
  std::size_t special_rows() const { return (class_token ? 1 : 0) + (distillation_token ? 1 : 0); }
  /// Returns the number of rows of one picture.
  std::size_t rows() const { return special_rows() + grid_rows() * grid_columns(); }
  /// Returns the number of values of a patch.
  std::size_t patch_values() const { return channels * patch_height * patch_width; }
  bool operator==(const PatchInput&) const = default;
};

}  // namespace glassformer
