#pragma once

#include <array>

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

}  // namespace glassformer
