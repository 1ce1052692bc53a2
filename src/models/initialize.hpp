#pragma once

#include <cstdint>
#include <vector>

#include "io/weights.hpp"

namespace glassformer {

/// A small generator whose numbers are the same everywhere: SplitMix64 (Steele et al. 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// Uniform in [0, 1), a multiple of 2^-24.
  float uniform();

 private:
  std::uint64_t state_;
};

/// Starting values for a parameter of this name and shape, row-major: matrices uniform in ±b with
/// b = sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010), norm weights 1, biases 0.
std::vector<float> initial_values(const Parameter& parameter, SplitMix64& random);

}  // namespace glassformer
