#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/heads/vector_modules.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Returns the pooled vectors, one after the other: [poolings · D]. states: [T, D]. `tokens`: the
/// positions to pool, special ones included, ascending, at least one. `first`: the position that
/// counts as the first token, even if it is not in `tokens`.
std::vector<float> pool(const ConstView& states, std::span<const std::size_t> tokens,
                        std::span<const TokenPooling> poolings, std::size_t first = 0);

}  // namespace glassformer
