#include "families/config/generation_config.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <span>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/strings/decimal.hpp"

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
    Neutral{"epsilon_cutoff", 0},
    Neutral{"eta_cutoff", 0},
    Neutral{"guidance_scale", 1},
};
// Unsupported settings that null or an empty array turns off.
constexpr std::array lists = {
    "force_words_ids",     "sequence_bias",
    "forced_decoder_ids",  "exponential_decay_length_penalty",
    "watermarking_config",
};

const char* const stoppings[] = {"false", "true", "\"never\""};

// Visits the settings by their names in generation_config.json, in the order in which our folders
// have them. Our format has fields of its own for the tokens that begin and end a text.
template <class Visitor, class Config>
requires std::same_as<const Config, const GenerationConfig>
void fields(Visitor& visitor, Config& config) {
  visitor.flag("do_sample", config.sample);
  visitor.file_of("do_sample", config.sample_in);
  visitor.count("max_new_tokens", 1, config.max_new_tokens);
  visitor.count("max_length", 1, config.max_length);
  visitor.count("min_new_tokens", 0, config.min_new_tokens);
  visitor.count("min_length", 0, config.min_length);
  visitor.number("max_length_factor", config.max_length_factor);
  visitor.count("num_beams", 1, config.beams);
  visitor.file_of("num_beams", config.beams_in);
  fields(visitor, const_cast<SamplingSettings&>(config.sampling));  // the writer only reads them
  visitor.number("length_penalty", config.length_penalty);
  visitor.first_id("forced_bos_token_id", config.second_token);
  visitor.first_id("forced_eos_token_id", config.last_token);
  visitor.flag("renormalize_logits", config.renormalize);
  visitor.stopping("early_stopping", config.early_stopping);
  if (!config.start_id) visitor.id("bos_token_id", config.bos_id);
  visitor.ids("suppress_tokens", config.suppressed);
  visitor.ids("begin_suppress_tokens", config.not_first);
  visitor.texts("stop_strings", config.stop_strings);
  visitor.words("bad_words_ids", config.never);
}

// Reads settings. Those that are absent or null stay as they are, unless stated otherwise.
class SettingsReader {
 public:
  explicit SettingsReader(JsonObject& object) : object_(object) {}

  const JsonValue* find(const char* key) { return present(object_.find(key)); }
  const JsonObject& object() const { return object_; }

  void flag(const char* key, bool& value) {
    if (find(key)) value = object_.boolean(key);
  }
  void count(const char* key, std::uint64_t least, std::optional<std::size_t>& value) {
    if (find(key)) value = static_cast<std::size_t>(object_.integer(key, least, largest_count));
  }
  void number(const char* key, std::optional<float>& value) {
    if (find(key)) value = object_.float_number(key);
  }
  void operator()(const char* key, std::optional<float>& value, const Option& about) {
    number(key, value);
    if (!find(key) || (*value >= about.least && *value <= about.most)) return;
    const auto decimal = [](double limit) { return shortest_decimal(static_cast<float>(limit)); };
    object_.fail(key, {"a number from {} to {}", {decimal(about.least), decimal(about.most)}},
                 *find(key));
  }
  void operator()(const char* key, std::optional<std::size_t>& value, const Option&) {
    count(key, 0, value);
  }
  void id(const char* key, std::optional<std::int32_t>& value) {
    if (find(key)) value = static_cast<std::int32_t>(object_.integer(key, 0, largest_count));
  }

  // Sets `file` to the name of the file that is read, if it has this setting.
  void file_of(const char* key, std::string& file) {
    if (find(key)) file = object_.document();
  }

  // Reads one token id, an array of ids, or null for no ids.
  void ids(const char* key, std::vector<std::int32_t>& ids) {
    const JsonValue* value = object_.find(key);
    if (!value) return;
    ids.clear();
    if (value->type() == JsonValue::Type::null) return;
    if (!value->is_array()) return add_id(key, *value, ids);
    for (JsonEntries entry(*value); entry.next();) add_id(key, entry.value(), ids);
  }

  // Reads ids and keeps the first.
  void first_id(const char* key, std::optional<std::int32_t>& value) {
    std::vector<std::int32_t> all;
    ids(key, all);
    if (!all.empty()) value = all[0];
  }

  // Reads an array of words. Each is an array of ids.
  void words(const char* key, std::vector<std::vector<std::int32_t>>& words) {
    const JsonValue* value = find(key);
    if (!value) return;
    const auto refuse = [&] {
      object_.fail(key, {"at most {} words, each an array of ids", {most_words}}, *value);
    };
    words.clear();
    if (!value->is_array()) refuse();
    for (JsonEntries word(*value); word.next();) {
      const JsonValue tokens = word.value();
      if (!tokens.is_array() || count_entries(tokens) == 0 || words.size() == most_words) refuse();
      std::vector<std::int32_t>& ids = words.emplace_back();
      for (JsonEntries token(tokens); token.next();) add_id(key, token.value(), ids);
    }
  }

  // Reads a string or an array of strings.
  void texts(const char* key, std::vector<std::string>& texts) {
    const JsonValue* value = find(key);
    if (!value) return;
    texts.clear();
    const auto add = [&](JsonValue text) {
      if (!text.is_string() || text.string().empty() || text.string().size() > longest_stop ||
          texts.size() == most_stops) {
        object_.fail(key, {"at most {} texts of 1 to {} bytes", {most_stops, longest_stop}}, text);
      }
      texts.emplace_back(text.string());
    };
    if (!value->is_array()) return add(*value);
    for (JsonEntries entry(*value); entry.next();) add(entry.value());
  }

  void stopping(const char* key, std::optional<EarlyStopping>& value) {
    using enum EarlyStopping;
    const JsonValue* found = find(key);
    if (!found) return;
    if (found->is_string() && found->string() == "never") {
      value = never;
    } else {
      value = object_.boolean(key) ? yes : no;
    }
  }

 private:
  void add_id(const char* key, JsonValue id, std::vector<std::int32_t>& ids) const {
    if (!id.is_whole() || id.whole() > largest_count || ids.size() == most_ids) {
      object_.fail(key, {"at most {} ids of tokens", {most_ids}}, id);
    }
    ids.push_back(static_cast<std::int32_t>(id.whole()));
  }

  JsonObject& object_;
};

// Writes the settings that are set.
class SettingsWriter {
 public:
  explicit SettingsWriter(JsonWriter& json) : json_(json) {}

  void flag(const char* key, bool value) {
    if (value) json_.field(key, value);
  }
  void count(const char* key, std::uint64_t, const auto& value) { write(key, value); }
  void number(const char* key, const auto& value) { write(key, value); }
  void operator()(const char* key, const auto& value, const Option&) { write(key, value); }
  void id(const char* key, const auto& value) { write(key, value); }
  void first_id(const char* key, const auto& value) { write(key, value); }
  void file_of(const char*, const std::string&) {}
  void ids(const char* key, const std::vector<std::int32_t>& ids) {
    write_all(key, ids, [&](std::int32_t id) { json_.value(id); });
  }
  void words(const char* key, const std::vector<std::vector<std::int32_t>>& words) {
    write_all(key, words, [&](const std::vector<std::int32_t>& word) {
      json_.array(word, [&](std::int32_t id) { json_.value(id); });
    });
  }
  void texts(const char* key, const std::vector<std::string>& texts) {
    write_all(key, texts, [&](const std::string& text) { json_.value(text); });
  }
  void stopping(const char* key, const std::optional<EarlyStopping>& value) {
    if (!value) return;
    json_.key(key);
    json_.raw(stoppings[static_cast<std::size_t>(*value)]);
  }

 private:
  void write(const char* key, const auto& value) {
    if (value) json_.field(key, *value);
  }
  void write_all(const char* key, const auto& values, const auto& write_value) {
    if (values.empty()) return;
    json_.key(key);
    json_.array(values, write_value);
  }

  JsonWriter& json_;
};

void expect_neutral(SettingsReader& settings) {
  const auto refuse = [&](const char* key, const Message& expected) {
    throw_error(ErrorCode::unsupported,
                {"{}: {}: expected {}, got {}; take it out of that file",
                 {settings.object().document(), key, expected, describe(*settings.find(key))}});
  };
  for (const auto& [key, neutral] : others) {
    const JsonValue* value = settings.find(key);
    if (value && settings.object().number(key, *value) != neutral) {
      refuse(key, std::to_string(static_cast<int>(neutral)));
    }
  }
  for (const char* key : lists) {
    const JsonValue* value = settings.find(key);
    if (!value || (value->is_array() && count_entries(*value) == 0)) continue;
    refuse(key, "none");
  }
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

}  // namespace

void read_generation(JsonObject& object, GenerationConfig& config) {
  SettingsReader settings(object);
  expect_neutral(settings);
  settings.ids("eos_token_id", config.end_ids);
  if (config.start_id) settings.id("decoder_start_token_id", config.start_id);
  fields(settings, config);
  if (!config.sample) config.sample_in.clear();
  if (config.beams.value_or(1) == 1) config.beams_in.clear();
  std::erase_if(config.never, [&](std::span<const std::int32_t> word) {
    // A text may always end, even if these settings forbid it.
    return word.size() == 1 && std::ranges::find(config.end_ids, word[0]) != config.end_ids.end();
  });
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
  if (!config.prefix.empty()) json.field("prefix", config.prefix);
  SettingsWriter settings(json);
  fields(settings, config);
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
  if (config.second_token) check("forced_bos_token_id", *config.second_token);
  if (config.last_token) check("forced_eos_token_id", *config.last_token);
}

}  // namespace glassformer
