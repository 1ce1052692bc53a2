#pragma once

#include <array>

#include "base/fields.hpp"

namespace glassformer {

/// The position of a residual connection's norm: x + f(norm(x)), which trains without a warm-up
/// (Xiong et al. 2020), or norm(x + f(x)), the order of "Attention Is All You Need".
enum class NormPlacement { pre, post };

/// unbiased: standard deviation over n - 1, eps added to it outside the root.
enum class NormKind { standard, unbiased, rms };

struct NormConfig {
  NormKind kind = NormKind::standard;
  float eps = 0;
  bool bias = true;  ///< for standard and unbiased: a learned shift

  bool operator==(const NormConfig&) const = default;
};

template <>
inline constexpr std::array enum_names<NormPlacement>{"pre", "post"};
template <>
inline constexpr std::array enum_names<NormKind>{"standard", "unbiased", "rms"};

}  // namespace glassformer
