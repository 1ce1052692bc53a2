#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "weights/loader.hpp"

namespace glassformer {

/// Returns initial values for a parameter of this name and shape, row-major: matrices uniform in ±b
/// with b = sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010), norm weights 1, biases 0.
std::vector<float> initial_values(const NamedParameter& parameter, SplitMix64& random);

/// Sets all parameters to initial values, in their order. The same seed gives the same values on
/// every machine.
void initialize(std::span<const NamedParameter> parameters, std::uint64_t seed);

}  // namespace glassformer
