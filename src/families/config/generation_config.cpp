#include "families/config/generation_config.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "base/limits.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_fields = 1000;
constexpr std::uint64_t largest_count = 1 << 24;
constexpr std::size_t most_ids = 1000;
constexpr std::size_t most_stops = 64, longest_stop = 1024;  // longest_stop in bytes
constexpr std::size_t most_words = 1000;

// A setting of the library that this one does not support, and the value that turns it off.
struct Neutral {
  const char* key;
  double value;
};
constexpr std::array others = {
    Neutral{"encoder_no_repeat_ngram_size", 0},
    Neutral{"num_beam_groups", 1},
    Neutral{"diversity_penalty", 0},
    Neutral{"penalty_alpha", 0},
    Neutral{"typical_p", 1},
    Neutral{"epsilon_cutoff", 0},
    Neutral{"eta_cutoff", 0},
    Neutral{"min_p", 0},
    Neutral{"encoder_repetition_penalty", 1},
    Neutral{"guidance_scale", 1},
};
// Unsupported settings that null or an empty array turns off.
constexpr std::array lists = {
    "force_words_ids",
    "sequence_bias",
    "forced_bos_token_id",
    "forced_decoder_ids",
    "exponential_decay_length_penalty",
};

class LenientFields {
 public:
  explicit LenientFields(JsonObject& object) : object_(object) {}

  const JsonValue* find(const char* key) { return present(object_.find(key)); }
  void count(const char* key, std::uint64_t least, std::optional<std::size_t>& into) {
    if (find(key)) into = static_cast<std::size_t>(object_.integer(key, least, largest_count));
  }
  void number(const char* key, std::optional<float>& into) {
    if (find(key)) into = object_.float_number(key);
  }
  JsonObject& object() { return object_; }

 private:
  JsonObject& object_;
};

void expect_neutral(LenientFields& fields) {
  const auto refuse = [&](const char* key, const Message& expected) {
    throw_error(ErrorCode::unsupported,
                {"{}: {}: expected {}, got {}; take it out of that file",
                 {fields.object().document(), key, expected, describe(*fields.find(key))}});
  };
  for (const auto& [key, neutral] : others) {
    if (!fields.find(key)) continue;
    if (fields.object().number(key) != neutral) {
      refuse(key, std::to_string(static_cast<int>(neutral)));
    }
  }
  for (const char* key : lists) {
    const JsonValue* value = fields.find(key);
    if (!value || (value->is_array() && count_entries(*value) == 0)) continue;
    refuse(key, "none");
  }
}

void add_id(LenientFields& fields, const char* key, JsonValue id, std::vector<std::int32_t>& ids) {
  if (!id.is_whole() || id.whole() > largest_count || ids.size() == most_ids) {
    fields.object().fail(key, {"at most {} ids of tokens", {most_ids}}, id);
  }
  ids.push_back(static_cast<std::int32_t>(id.whole()));
}

// Reads one token id, an array of ids, or null for no ids.
void read_ids(LenientFields& fields, const char* key, std::vector<std::int32_t>& ids) {
  const JsonValue* value = fields.object().find(key);
  if (!value) return;
  ids.clear();
  if (value->type() == JsonValue::Type::null) return;
  if (!value->is_array()) return add_id(fields, key, *value, ids);
  for (JsonEntries entry(*value); entry.next();) add_id(fields, key, entry.value(), ids);
}

// Reads words. Each is an array of ids.
void read_never(LenientFields& fields, std::vector<std::vector<std::int32_t>>& never) {
  constexpr const char* key = "bad_words_ids";
  const JsonValue* words = fields.find(key);
  if (!words) return;
  const auto refuse = [&] {
    fields.object().fail(key, {"at most {} words, each an array of ids", {most_words}}, *words);
  };
  never.clear();
  if (!words->is_array()) refuse();
  for (JsonEntries word(*words); word.next();) {
    const JsonValue tokens = word.value();
    if (!tokens.is_array() || count_entries(tokens) == 0 || never.size() == most_words) refuse();
    std::vector<std::int32_t>& ids = never.emplace_back();
    for (JsonEntries token(tokens); token.next();) add_id(fields, key, token.value(), ids);
  }
}

// Reads a string or an array of strings.
void read_stops(LenientFields& fields, std::vector<std::string>& stops) {
  constexpr const char* key = "stop_strings";
  const JsonValue* value = fields.find(key);
  if (!value) return;
  stops.clear();
  const auto add = [&](JsonValue stop) {
    if (!stop.is_string() || stop.string().empty() || stop.string().size() > longest_stop ||
        stops.size() == most_stops) {
      fields.object().fail(key, {"at most {} texts of 1 to {} bytes", {most_stops, longest_stop}},
                           stop);
    }
    stops.emplace_back(stop.string());
  };
  if (!value->is_array()) return add(*value);
  for (JsonEntries entry(*value); entry.next();) add(entry.value());
}

void write_value(JsonWriter& json, JsonValue value) {
  const auto write_entries = [&] {
    for (JsonEntries entry(value); entry.next();) {
      if (value.is_object()) json.key(entry.key());
      write_value(json, entry.value());
    }
  };
  if (value.is_object()) return json.object(write_entries);
  if (value.is_array()) return json.array(write_entries);
  json.raw(value.text());
}

std::string compact(JsonValue value) {
  JsonWriter json;
  write_value(json, value);
  return json.take();
}

constexpr const char* tasks_key = "task_specific_params";

TaskSettings task_of(const std::string& name, JsonValue settings) {
  TaskSettings task = {.name = name, .prefix = {}, .settings = compact(settings)};
  if (!settings.is_object()) return task;  // with_task reports the error
  for (JsonEntries entry(settings); entry.next();) {
    if (entry.key() != "prefix") continue;
    const JsonValue prefix = entry.value();
    if (prefix.is_string()) task.prefix = prefix.string();
    if (prefix.type() == JsonValue::Type::null) task.prefix = "";  // as in the library
  }
  return task;
}

const char* const stoppings[] = {"false", "true", "\"never\""};

}  // namespace

void read_generation(JsonObject& object, GenerationConfig& config) {
  LenientFields fields(object);
  expect_neutral(fields);
  read_ids(fields, "eos_token_id", config.end_ids);
  read_never(fields, config.never);
  std::erase_if(config.never, [&](std::span<const std::int32_t> word) {
    // A text may always end, even if these settings forbid it.
    return word.size() == 1 && std::ranges::find(config.end_ids, word[0]) != config.end_ids.end();
  });
  read_ids(fields, "suppress_tokens", config.suppressed);
  read_ids(fields, "begin_suppress_tokens", config.not_first);
  read_stops(fields, config.stop_strings);
  constexpr const char* begin = "bos_token_id";
  if (!config.start_id && fields.find(begin)) {
    config.bos_id = static_cast<std::int32_t>(object.integer(begin, 0, largest_count));
  }
  std::vector<std::int32_t> last;
  read_ids(fields, "forced_eos_token_id", last);
  if (!last.empty()) config.last_token = last[0];
  if (fields.find("renormalize_logits")) {
    config.renormalize = object.boolean("renormalize_logits");
  }
  constexpr const char* start = "decoder_start_token_id";
  if (config.start_id && fields.find(start)) {
    config.start_id = static_cast<std::int32_t>(object.integer(start, 0, largest_count));
  }
  if (fields.find("do_sample")) {
    config.sample = object.boolean("do_sample");
    config.sample_in = config.sample ? object.document() : "";
  }
  fields.count("max_new_tokens", 1, config.max_new_tokens);
  fields.count("max_length", 1, config.max_length);
  fields.count("min_new_tokens", 0, config.min_new_tokens);
  fields.count("min_length", 0, config.min_length);
  fields.count("no_repeat_ngram_size", 0, config.no_repeat_ngram_size);
  fields.count("num_beams", 1, config.beams);
  if (fields.find("num_beams")) config.beams_in = *config.beams > 1 ? object.document() : "";
  fields.count("top_k", 0, config.top_k);
  fields.number("max_length_factor", config.max_length_factor);
  fields.number("temperature", config.temperature);
  fields.number("top_p", config.top_p);
  fields.number("repetition_penalty", config.repetition_penalty);
  fields.number("length_penalty", config.length_penalty);
  using enum EarlyStopping;
  if (const JsonValue* stopping = fields.find("early_stopping")) {
    if (stopping->is_string() && stopping->string() == "never") {
      config.early_stopping = never;
    } else {
      config.early_stopping = object.boolean("early_stopping") ? yes : no;
    }
  }
}

void read_generation(std::string_view json, GenerationConfig& config) {
  constexpr JsonSource source{ErrorCode::invalid_config, generation_config_name};
  const JsonValue value = parse_json(json, source);
  JsonObject object(value, source, {}, most_fields);
  read_generation(object, config);
}

void read_tasks(JsonObject& object, GenerationConfig& config) {
  if (present(object.find("prefix"))) config.prefix = object.string("prefix");
  const JsonValue* tasks = present(object.find(tasks_key));
  if (!tasks) return;
  if (!tasks->is_object()) object.fail(tasks_key, "an object", *tasks);
  for (JsonEntries entry(*tasks); entry.next();) {
    config.tasks.push_back(task_of(entry.key(), entry.value()));
  }
}

GenerationConfig with_task(GenerationConfig config, const TaskSettings& task,
                           std::size_t vocab_size) {
  const std::string name = std::string("config.json: ") + tasks_key + ": " + describe(task.name);
  const JsonSource source{ErrorCode::invalid_config, name};
  JsonObject object(parse_json(task.settings, source), source, {}, most_fields);
  if (present(object.find("prefix"))) object.string("prefix");  // throws if it is not a string
  if (task.prefix) config.prefix = *task.prefix;
  read_generation(object, config);
  check_generation(config, vocab_size, name);
  return config;
}

void write_generation(JsonWriter& json, const GenerationConfig& config) {
  const auto write = [&](const char* key, const auto& value) {
    if (value) json.field(key, *value);
  };
  if (!config.prefix.empty()) json.field("prefix", config.prefix);
  if (config.sample) json.field("do_sample", config.sample);
  write("max_new_tokens", config.max_new_tokens);
  write("max_length", config.max_length);
  write("min_new_tokens", config.min_new_tokens);
  write("min_length", config.min_length);
  write("no_repeat_ngram_size", config.no_repeat_ngram_size);
  write("max_length_factor", config.max_length_factor);
  write("num_beams", config.beams);
  write("top_k", config.top_k);
  write("temperature", config.temperature);
  write("top_p", config.top_p);
  write("repetition_penalty", config.repetition_penalty);
  write("length_penalty", config.length_penalty);
  write("forced_eos_token_id", config.last_token);
  if (config.renormalize) json.field("renormalize_logits", config.renormalize);
  if (config.early_stopping) {
    json.key("early_stopping");
    json.raw(stoppings[static_cast<std::size_t>(*config.early_stopping)]);
  }
  write("bos_token_id", config.bos_id);
  const auto write_all = [&](const char* key, const auto& values, const auto& write_value) {
    if (values.empty()) return;
    json.key(key);
    json.array(values, write_value);
  };
  const auto write_id = [&](std::int32_t id) { json.value(id); };
  write_all("suppress_tokens", config.suppressed, write_id);
  write_all("begin_suppress_tokens", config.not_first, write_id);
  write_all("stop_strings", config.stop_strings,
            [&](const std::string& stop) { json.value(stop); });
  write_all("bad_words_ids", config.never,
            [&](const std::vector<std::int32_t>& word) { json.array(word, write_id); });
  if (config.tasks.empty()) return;
  json.key(tasks_key);
  json.object([&] {
    for (const TaskSettings& task : config.tasks) {
      json.key(task.name);
      write_value(json, JsonValue(task.settings));
    }
  });
}

void expect_searched(const GenerationConfig& config, std::string_view file) {
  const char* other = !config.prefix.empty()         ? "prefix"
                      : !config.stop_strings.empty() ? "stop_strings"
                      : !config.suppressed.empty()   ? "suppress_tokens"
                      : !config.not_first.empty()    ? "begin_suppress_tokens"
                                                     : nullptr;
  if (other) {
    throw_error(ErrorCode::unsupported,
                {"{}: {}: expected none for a translator, got some; take it out of that file",
                 {file, other}});
  }
  if (!config.sample) return;
  throw_error(
      ErrorCode::unsupported,
      {"{}: do_sample: expected false, got true, as translations come from a search; set it "
       "to false in that file",
       {file}});
}

void check_generation(const GenerationConfig& config, std::size_t vocab_size,
                      std::string_view file) {
  const auto check = [&](const char* key, std::int32_t id) {
    if (static_cast<std::size_t>(id) < vocab_size) return;
    throw_error(ErrorCode::invalid_config,
                {"{}: {}: expected ids below {}, got {}", {file, key, vocab_size, id}});
  };
  for (const std::vector<std::int32_t>& word : config.never) {
    for (const std::int32_t id : word) check("bad_words_ids", id);
  }
  for (const std::int32_t id : config.suppressed) check("suppress_tokens", id);
  for (const std::int32_t id : config.not_first) check("begin_suppress_tokens", id);
  if (config.start_id) check("decoder_start_token_id", *config.start_id);
  if (config.last_token) check("forced_eos_token_id", *config.last_token);
}

}  // namespace glassformer
