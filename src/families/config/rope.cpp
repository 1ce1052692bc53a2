#include "families/config/rope.hpp"

#include <cmath>

#include "base/powers.hpp"

namespace glassformer {
namespace {

// Older versions use the key `type`.
std::string rope_type_of(JsonObject& fields) {
  for (const char* key : {"rope_type", "type"}) {
    if (present(fields.find(key))) return fields.string(key);
  }
  if (const JsonValue* factor = present(fields.find("factor"))) {
    fields.fail("rope_type", "a type in addition to a factor", *factor);
  }
  return "default";
}

float positive(JsonObject& fields, const char* key) {
  const float value = fields.float_number(key);
  if (!(value > 0)) fields.fail(key, "a number above 0", fields.require(key));
  return value;
}

// Returns the number of positions in the first training. A field next to the object takes
// precedence over one inside it.
std::size_t original_length(HubConfig& config, JsonObject& fields) {
  constexpr const char* key = "original_max_position_embeddings";
  std::size_t length = config.free_size("max_position_embeddings", 0);
  if (present(fields.find(key))) {
    length = static_cast<std::size_t>(fields.integer(key, 1, max_positions));
  }
  return config.free_size(key, length);
}

// Sets how many numbers of a head are rotated, from the key of a share.
void read_part(HubConfig& config, JsonObject& fields, const char* key, const RopeRules& rules,
               RotaryConfig& rotary) {
  const JsonValue* const factor = present(fields.find(key));
  if (!factor) return;
  if (rules.d_head == 0) {
    if (factor->type() == JsonValue::Type::number && factor->number() == 1) return;
    config.refuse(key, "1", describe(*factor));
  }
  const double part = static_cast<double>(fields.float_number(key));
  if (!(part > 0 && part <= 1)) fields.fail(key, "a number above 0, at most 1", *factor);
  rotary.size = static_cast<std::size_t>(static_cast<double>(rules.d_head) * factor->number());
}

// Reads a factor per pair. Texts are no longer than those of the first training, so the factors for
// longer ones are not needed.
void read_factors(HubConfig& config, JsonObject& fields, RotaryConfig& rotary) {
  constexpr const char* key = "short_factor";
  const JsonValue& factors = fields.require(key);
  if (!factors.is_array() || 2 * count_entries(factors) != rotary.size) {
    fields.fail(key, {"an array of {} numbers, one for each pair", {rotary.size / 2}}, factors);
  }
  for (JsonEntries entry(factors); entry.next();) {
    rotary.factors.push_back(fields.float_number(key, entry.value()));
  }
  rotary.scaling = RotaryScaling::per_pair;
  if (present(fields.find("attention_factor"))) {
    rotary.amplitude = positive(fields, "attention_factor");
    return;
  }
  const auto original = static_cast<double>(first_length(config));
  const auto length = static_cast<double>(config.free_size("max_position_embeddings", 4096));
  const double factor = present(fields.find("factor"))
                            ? static_cast<double>(positive(fields, "factor"))
                            : length / original;
  if (factor <= 1) return;
  rotary.amplitude = static_cast<float>(std::sqrt(1 + logarithm(factor) / logarithm(original)));
}

}  // namespace

std::size_t first_length(HubConfig& config) {
  return config.free_size("original_max_position_embeddings", 4096);
}

RotaryConfig read_rope(HubConfig& config, const char* key, JsonValue value,
                       const RopeRules& rules) {
  JsonObject fields(value, config.object().json_source(), key);
  RotaryConfig rotary = {.base = rules.base, .size = rules.size};
  if (fields.find("rope_theta")) rotary.base = positive(fields, "rope_theta");
  read_part(config, fields, "partial_rotary_factor", rules, rotary);
  const std::string type = rope_type_of(fields);
  if (type == "default") return rotary;
  if (rules.long_texts) {
    // "su" and "yarn" are names of the same in older files of this kind.
    if (type != "longrope" && type != "su" && type != "yarn") {
      config.refuse(key, "a rope_type \"default\" or \"longrope\"", describe(type));
    }
    read_factors(config, fields, rotary);
    return rotary;
  }
  if (type != "linear" && type != "llama3") {
    config.refuse(key, "a rope_type \"default\", \"linear\" or \"llama3\"", describe(type));
  }
  rotary.scaling = type == "linear" ? RotaryScaling::linear : RotaryScaling::by_wavelength;
  rotary.factor = positive(fields, "factor");
  if (rotary.scaling == RotaryScaling::linear) return rotary;
  rotary.low_frequency = positive(fields, "low_freq_factor");
  rotary.high_frequency = positive(fields, "high_freq_factor");
  rotary.original_length = original_length(config, fields);
  return rotary;
}

RotaryConfig read_rope(HubConfig& config, const RopeRules& rules) {
  JsonObject& object = config.object();
  RotaryConfig rotary = {.base = rules.base, .size = rules.size};
  read_part(config, object, rules.part_key, rules, rotary);
  if (object.find(rules.base_key)) rotary.base = positive(object, rules.base_key);
  RopeRules inner = rules;
  inner.base = rotary.base;
  inner.size = rotary.size;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (const JsonValue* value = config.find(key)) return read_rope(config, key, *value, inner);
  }
  return rotary;
}

RotaryConfig read_rope_of(HubConfig& config, const char* kind, float base) {
  constexpr const char* key = "rope_parameters";
  JsonObject kinds(config.object().require(key), config.object().json_source(), key);
  const JsonValue* found = present(kinds.find(kind));
  if (!found) config.refuse(key, {"an object {}", {kind}}, "none");
  return read_rope(config, kind, *found, {.base = base});
}

std::vector<bool> sliding_layers(HubConfig& config, std::size_t layers) {
  constexpr const char* key = "layer_types";
  const JsonValue* types = config.find(key);
  if (!types) return {};
  if (!types->is_array() || count_entries(*types) != layers) {
    config.object().fail(key, {"an array of {} types, one for each layer", {layers}}, *types);
  }
  std::vector<bool> sliding;
  for (JsonEntries entry(*types); entry.next();) {
    const std::string type = entry.value().is_string() ? entry.value().string() : "";
    if (type != "full_attention" && type != "sliding_attention") {
      config.refuse(key, "\"full_attention\" or \"sliding_attention\"", describe(entry.value()));
    }
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

}  // namespace glassformer
