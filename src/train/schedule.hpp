#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/fields.hpp"

namespace glassformer {

/// How the learning rate falls after the warm-up.
enum class Decay { linear, cosine, none };

/// The learning rate over a training.
struct Schedule {
  float rate = 1e-3f;     ///< the highest
  float warm_up = 0.05f;  ///< share of the training in which the rate rises from 0
  Decay decay = Decay::linear;

  /// `progress`: 0 at the beginning, 1 at the end.
  float at(double progress) const {
    const double done = std::min(progress, 1.0);
    if (warm_up > 0 && done <= double{warm_up}) {
      return rate * static_cast<float>(done / double{warm_up});
    }
    const double left = (1 - done) / (1 - double{warm_up});
    switch (decay) {
      case Decay::linear:
        return rate * static_cast<float>(left);
      case Decay::cosine:
        return rate * static_cast<float>(0.5 - 0.5 * std::cos(std::numbers::pi * left));
      case Decay::none:
        return rate;
    }
    return rate;
  }
};

template <>
inline constexpr std::array enum_names<Decay>{"linear", "cosine", "none"};

}  // namespace glassformer
