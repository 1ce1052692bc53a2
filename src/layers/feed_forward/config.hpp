#pragma once

#include <array>
#include <cstddef>

#include "base/fields.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {

struct FeedForwardConfig {
  std::size_t d_ff = 0;
  Activation activation = Activation::relu;
  bool gated = false;  ///< a second product, activated, multiplies the first
  bool bias = true;

  bool operator==(const FeedForwardConfig&) const = default;
};

template <>
inline constexpr std::array enum_names<Activation>{"relu", "gelu", "gelu_tanh", "quick_gelu",
                                                   "silu", "tanh", "linear"};

}  // namespace glassformer
