#pragma once

#include "families/config/hub_config.hpp"
#include "layers/attention/config.hpp"

namespace glassformer {

/// The defaults for a rotary embedding, and what files may say about it.
struct RopeRules {
  float base = 10000;
  std::size_t size = 0;  ///< how many numbers of a head are rotated; 0: the family sets it later
  /// If files may have the share of a head that is rotated: the size of a head.
  std::size_t d_head = 0;
  bool long_texts = false;  ///< scaling is "longrope", in place of linear and llama3
  const char* base_key = "rope_theta";
  const char* part_key = "partial_rotary_factor";
};

/// Reads a rotary embedding from `rope_scaling` or `rope_parameters` and `rope_theta`. The keys
/// depend on the version of the library transformers. Throws `unsupported` for other scalings.
RotaryConfig read_rope(HubConfig& config, const RopeRules& rules);

/// Reads it from one object with `rope_type` and `rope_theta`; `key` names the object.
RotaryConfig read_rope(HubConfig& config, const char* key, JsonValue value, const RopeRules& rules);

/// Reads that of one kind of layers, such as "full_attention", from `rope_parameters`, which has an
/// object for each kind.
RotaryConfig read_rope_of(HubConfig& config, const char* kind, float base);

/// Returns the number of positions in the first training of a model with longrope.
std::size_t first_length(HubConfig& config);

/// Returns which layers have sliding attention by the array `layer_types`, or an empty vector if
/// there is no such array. Throws `invalid_config` unless it has one entry per layer.
std::vector<bool> sliding_layers(HubConfig& config, std::size_t layers);

}  // namespace glassformer
