#pragma once

#include "families/hub_config.hpp"
#include "layers/attention/config.hpp"

namespace glassformer {

/// Reads `rope_scaling` or `rope_parameters` and `rope_theta`, under which the versions of the
/// library transformers keep a rotary embedding. `base`: of a file without `rope_theta`. Throws
/// `unsupported` for scalings other than linear and llama3.
RotaryConfig read_rope(HubConfig& config, float base);

/// The same from one object with `rope_type` and `rope_theta`; `key` names it.
RotaryConfig read_rope(HubConfig& config, const char* key, JsonValue value, float base);

/// The layers that an array `layer_types` has sliding attention for; empty: there is no such array.
/// Throws `invalid_config` unless it has one entry for each layer.
std::vector<bool> sliding_layers(HubConfig& config, std::size_t layers);

}  // namespace glassformer
