#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace glassformer {

/// The rows of a text that stand for it.
enum class SteeredRows { last, mean };
template <>
inline constexpr std::array enum_names<SteeredRows>{"last", "mean"};

/// A direction in the vectors of a tensor, to add as a patch: {name, …, kind add, vector}.
struct SteeringVector {
  std::string name;           ///< of the tensor
  std::vector<float> vector;  ///< mean of the texts to steer toward - mean of those away
  float norm = 0;             ///< its length
  float stream_norm = 0;      ///< the mean length of the rows that it was computed from
};

/// What to compare, to find a direction.
struct SteeringRequest {
  std::string name;  ///< such as "decoder.layers.2.output": a tensor with a vector per token
  SteeredRows rows = SteeredRows::last;
};

}  // namespace glassformer
