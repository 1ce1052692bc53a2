#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/heads/vector_modules.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// The pooled vectors, one after the other: [poolings · D]. states: [T, D]. `tokens`: the positions
/// that count, special ones included, ascending, at least one. `first`: what counts as the first
/// token, whether it is among them or not.
std::vector<float> pool(const ConstView<2>& states, std::span<const std::size_t> tokens,
                        std::span<const TokenPooling> poolings, std::size_t first = 0);

}  // namespace glassformer
