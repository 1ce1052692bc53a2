#pragma once

#include <string_view>

#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "families/config/model_config.hpp"

namespace glassformer {

/// The file with the default settings for generation.
inline constexpr const char* generation_config_name = "generation_config.json";

/// Reads generation settings from a config.json or generation_config.json. Settings that are absent
/// stay as they are. Throws `unsupported`, with the field, for an unsupported setting that would
/// change the output, and `invalid_config` for invalid values.
void read_generation(JsonObject& object, GenerationConfig& config);

/// Reads them from the text of a generation_config.json. Also throws `invalid_config` for broken
/// JSON.
void read_generation(std::string_view json, GenerationConfig& config);

/// Reads `prefix` and `task_specific_params` of a config.json. The settings of a task are checked
/// by with_task. Throws `invalid_config` for values of another type.
void read_tasks(JsonObject& object, GenerationConfig& config);

/// Returns the configuration with the settings of one of its tasks. Throws as read_generation and
/// check_generation do. `vocab_size` is the decoder's.
GenerationConfig with_task(GenerationConfig config, const TaskSettings& task,
                           std::size_t vocab_size);

/// Writes fields from which read_generation and read_tasks restore the configuration, except the
/// end tokens.
void write_generation(JsonWriter& json, const GenerationConfig& config);

/// Throws `unsupported` for settings that do not apply to translations, which use beam search, not
/// sampling. `file`: the last one that was read.
void expect_searched(const GenerationConfig& config, std::string_view file);

/// Throws `invalid_config` if it names tokens beyond the vocabulary.
void check_generation(const GenerationConfig& config, std::size_t vocab_size,
                      std::string_view file);

}  // namespace glassformer
