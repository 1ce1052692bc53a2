#include "models/initialize.hpp"

#include <cmath>

namespace glassformer {

std::vector<float> initial_values(const NamedParameter& parameter, SplitMix64& random) {
  std::vector<float> values(element_count(parameter.shape));
  if (parameter.shape.size() == 1) {
    const bool scales = parameter.name.ends_with(".weight");
    values.assign(values.size(), scales ? 1.0f : 0.0f);
    return values;
  }
  const double fans = static_cast<double>(parameter.shape[0] + parameter.shape[1]);
  const float bound = static_cast<float>(std::sqrt(6.0 / fans));
  for (float& value : values) value = (2.0f * random.uniform() - 1.0f) * bound;
  return values;
}

void initialize(std::span<const NamedParameter> parameters, std::uint64_t seed) {
  SplitMix64 random(seed);
  for (const NamedParameter& parameter : parameters) {
    set_values(parameter, initial_values(parameter, random), 0);
  }
}

}  // namespace glassformer
