#pragma once

#include <string>
#include <vector>

#include "families/config/model_config.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// Returns the config.json of a classifier of pictures in its published format, so that the library
/// transformers opens the folder. Its steps go to preprocessor_config.json: see PictureSteps.
/// Throws `unsupported` for a model that the format cannot describe.
std::string published_config(const ModelConfig& config);

/// Returns the parameters of such a model with the names and shapes that they have in its published
/// format.
std::vector<NamedParameter> in_published_names(std::vector<NamedParameter> parameters,
                                               const ModelConfig& config);

}  // namespace glassformer
