#include "families/config/config_items.hpp"
#include "families/config/generation_config.hpp"
#include "families/linked.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_end_ids = 64;

void writing_fields(ConfigFields& visitor, ModelConfig& config) {
  HeadConfig& head = config.architecture.head;
  enum_field(visitor, "embeddings", config.architecture.embeddings);
  visitor.flag("lm_head_bias", head.bias);
  visitor.flag("scale_states", head.scale_states, AbsentFlag::off);
  optional_field(visitor, "logit_cap", head.logit_cap,
                 [&](float& cap) { visitor.number("logit_cap", cap, NumberRange::positive); });
  if (config.task == Task::translation) {
    visitor.text("start_token", config.start_token);
    visitor.text("end_token", config.end_token);
    return;
  }
  if (config.architecture.encoder) {
    if (!config.generation.start_id) config.generation.start_id.emplace();
    id_field(visitor, "start_id", *config.generation.start_id);
  }
  items(visitor, "end_ids", config.generation.end_ids, {.least = 0, .most = max_end_ids},
        "an array of at most 64 ids", [&](std::int32_t& id) { id_field(visitor, "", id); });
}

void read_own_generation(JsonObject& object, ModelConfig& config) {
  const JsonValue* generation = object.find("generation");
  if (!generation) return;
  JsonObject fields(*generation, object.json_source(), "generation");
  read_generation(fields, config.generation);
  if (config.task != Task::translation) read_tasks(fields, config.generation);
  fields.finish();
  check_generation(config.generation, config.decoder().vocab_size(), object.document());
}

// Sets a translator's start and end tokens by their pieces. Its family gives their ids.
void name_tokens(ModelConfig& config, const Tokenizer& tokenizer, const char* file) {
  GenerationConfig& generation = config.generation;
  if (!generation.start_id) return;
  const auto piece = [&](const char* key, std::span<const std::int32_t> ids) {
    const std::int32_t id = ids.empty() ? -1 : ids[0];
    if (static_cast<std::size_t>(id) < tokenizer.size()) return std::string(tokenizer.piece(id));
    throw_error(ErrorCode::invalid_config,
                {"{}: {}: expected one of the tokenizer's {} tokens, got {}",
                 {file, key, tokenizer.size(), id < 0 ? "none" : std::to_string(id)}});
  };
  config.start_token = piece("decoder_start_token_id", {&*generation.start_id, 1});
  config.end_token = piece("eos_token_id", generation.end_ids);
  generation.start_id.reset();
}

void complete_generation(ModelConfig& config, const std::optional<std::string>& generation,
                         const Tokenizer& target) {
  // The file that takes precedence if both have a field.
  const char* file = generation ? generation_config_name : config_limit.name.data();
  if (generation) read_generation(*generation, config.generation);
  check_generation(config.generation, config.decoder().vocab_size(), file);
  if (config.task != Task::translation) return;
  expect_searched(config.generation, file);
  config.generation.tasks.clear();  // a translator has one task
  name_tokens(config, target, file);
}

}  // namespace

const WritingParts writing_parts = {.fields = writing_fields,
                                    .read_generation = read_own_generation,
                                    .complete = complete_generation};

}  // namespace glassformer
