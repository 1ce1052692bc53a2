#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/training/training_log.hpp"

namespace glassformer {

/// Draws the loss and the share of right answers over the steps of a training, as SVG. `unit` says
/// what is right: "texts", "next tokens". The picture has its own background, light or dark as the
/// reader prefers, and a title and a description for readers who do not see it.
std::string draw_curves(std::span<const TrainingPoint> points, const std::string& unit);

}  // namespace glassformer
