#pragma once

#include <span>
#include <string_view>

#include "api/tasks/steer.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// Computes the mean vector of one list of texts minus that of another: contrastive activation
/// addition (Rimsky et al. 2024, "Steering Llama 2 via Contrastive Activation Addition", section
/// 3). Patches add it to the same tensor, or remove it.
///
/// Throws `invalid_option` for a list without texts and for a tensor without a vector per token,
/// and the errors of the task.
SteeringVector steering_vector(Pipeline& pipeline, const SteeringRequest& request,
                               std::span<const std::string_view> toward,
                               std::span<const std::string_view> away);

}  // namespace glassformer
