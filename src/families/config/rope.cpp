#include "families/config/rope.hpp"

namespace glassformer {
namespace {

// Older versions use the key `type`.
std::string type_of(JsonObject& fields) {
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

void expect_whole_heads(HubConfig& config, const JsonValue* factor) {
  if (!factor || (factor->type() == JsonValue::Type::number && factor->number() == 1)) return;
  config.refuse("partial_rotary_factor", "1", describe(*factor));
}

}  // namespace

RotaryConfig read_rope(HubConfig& config, const char* key, JsonValue value, float base) {
  JsonObject fields(value, config.object().json_source(), key);
  RotaryConfig rotary = {.base = base};
  if (fields.find("rope_theta")) rotary.base = positive(fields, "rope_theta");
  expect_whole_heads(config, present(fields.find("partial_rotary_factor")));
  const std::string type = type_of(fields);
  if (type == "default") return rotary;
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

RotaryConfig read_rope(HubConfig& config, float base) {
  expect_whole_heads(config, config.find("partial_rotary_factor"));
  JsonObject& object = config.object();
  if (object.find("rope_theta")) base = positive(object, "rope_theta");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (const JsonValue* value = config.find(key)) return read_rope(config, key, *value, base);
  }
  return {.base = base};
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
