#pragma once

#include "families/config/hub_config.hpp"
#include "layers/attention/config.hpp"

namespace glassformer {

/// Reads a rotary embedding from `rope_scaling` or `rope_parameters` and `rope_theta`. The keys
/// depend on the version of the library transformers. `base` is the default for `rope_theta`.
/// Throws `unsupported` for scalings other than linear and llama3.
RotaryConfig read_rope(HubConfig& config, float base);

/// Reads it from one object with `rope_type` and `rope_theta`; `key` names the object.
RotaryConfig read_rope(HubConfig& config, const char* key, JsonValue value, float base);

/// Returns which layers have sliding attention by the array `layer_types`, or an empty vector if
/// there is no such array. Throws `invalid_config` unless it has one entry per layer.
std::vector<bool> sliding_layers(HubConfig& config, std::size_t layers);

}  // namespace glassformer
