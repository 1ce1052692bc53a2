#pragma once

#include <span>
#include <string>

#include "tasks/pipeline.hpp"

namespace glassformer {

/// Returns a description of a pipeline's model: {task, labels, layers, heads, …, parameters,
/// ignored_tensors, compute, architecture}. `ignored`: names of tensors in its files that the model
/// does not need.
std::string describe_json(const Pipeline& pipeline, std::size_t parameters,
                          std::span<const std::string> ignored);

/// Returns the architecture as {encoder?, decoder?, head, embeddings}. A stack has its fields and
/// those of each layer in `layers`, by their names in config.json, all of them with their values; a
/// translator's decoder also has its `start_token`.
std::string architecture_json(const ModelConfig& config);

}  // namespace glassformer
