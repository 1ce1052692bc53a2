#pragma once

#include <span>
#include <string>
#include <vector>

#include "tasks/pipeline.hpp"

namespace glassformer {

/// The rows of a text that stand for it.
enum class SteeredRows { last, mean };
template <>
inline constexpr std::array enum_names<SteeredRows>{"last", "mean"};

/// A direction in the vectors of a tensor.
struct SteeringVector {
  std::string name;           ///< of the tensor
  std::vector<float> vector;  ///< mean of the texts to steer toward - mean of those away
  float norm = 0;             ///< its length
  float stream_norm = 0;      ///< the mean length of the rows that it was computed from
};

struct SteeringRequest {
  std::string name;  ///< such as "decoder.layers.2.output": a tensor with a vector per token
  SteeredRows rows = SteeredRows::last;
};

/// Computes the mean vector of one list of texts minus that of another: contrastive activation
/// addition (Rimsky et al. 2024, "Steering Llama 2 via Contrastive Activation Addition", section
/// 3). Patches add it to the same tensor, or remove it.
///
/// Throws `invalid_option` for a list without texts and for a tensor without a vector per token,
/// and the errors of the task.
SteeringVector steering_vector(Pipeline& pipeline, const SteeringRequest& request,
                               std::span<const std::string> toward,
                               std::span<const std::string> away);

}  // namespace glassformer
