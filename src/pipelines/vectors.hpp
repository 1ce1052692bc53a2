#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "checkpoints/model_config.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// The pooled vectors, one after the other: [poolings · D]. states: [T, D]. `tokens`: the positions
/// that count, special ones included, at least one; cls is position 0 whatever they are. A
/// sentence-transformers model with several poolings has them in the order of TokenPooling.
std::vector<float> pool(const ConstView<2>& states, std::span<const std::size_t> tokens,
                        std::span<const TokenPooling> poolings);

/// x / max(‖x‖, 1e-12), in place.
void normalize(std::span<float> x);

}  // namespace glassformer
