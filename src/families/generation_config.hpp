#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "families/model_config.hpp"

namespace glassformer {

/// The file that says how a model's makers have it continue texts.
inline constexpr const char* generation_config_name = "generation_config.json";

/// Takes over what a config.json or generation_config.json says of writing texts; what it does not
/// say stays. Throws `unsupported`, naming the field, for what would make another text of it
/// and cannot be done here, `invalid_config` for values that make no sense.
void read_generation(JsonObject& object, GenerationConfig& config);

/// The same of generation_config.json. Throws `invalid_config` for broken JSON.
void read_generation(std::string_view json, GenerationConfig& config);

/// Reads `prefix` and `task_specific_params` of a config.json. The settings of a task are checked
/// by with_task. Throws `invalid_config` for values of another type.
void read_tasks(JsonObject& object, GenerationConfig& config);

/// The configuration with the settings of one of its tasks. Throws what read_generation and
/// check_generation do; `vocab_size`: of the decoder.
GenerationConfig with_task(GenerationConfig config, const TaskSettings& task,
                           std::size_t vocab_size);

/// Writes the fields from which read_generation and read_tasks make the same, but for the end
/// tokens.
void write_generation(JsonWriter& json, const GenerationConfig& config);

/// Throws `unsupported` for what translations do not have: they are searched for, and not drawn.
/// `file`: the last one that was read.
void expect_searched(const GenerationConfig& config, std::string_view file);

/// Throws `invalid_config` where it speaks of tokens beyond the vocabulary.
void check_generation(const GenerationConfig& config, std::size_t vocab_size,
                      std::string_view file);

}  // namespace glassformer
