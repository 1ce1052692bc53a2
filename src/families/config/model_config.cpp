#include "families/config/model_config.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "base/limits.hpp"
#include "families/config/config_fields.hpp"
#include "families/config/config_items.hpp"
#include "families/config/generation_config.hpp"
#include "families/linked.hpp"
#include "models/model.hpp"

namespace glassformer {

namespace {

constexpr std::uint64_t format_version = 1;

// The architectures by their names in the file, and the tasks of each.
struct ModelType {
  const char* name;
  Task task;
  bool decodes_to_classify = false;
};
constexpr std::array model_types = {
    ModelType{"encoder_classifier", Task::text_classification},
    ModelType{"encoder_decoder_classifier", Task::text_classification, true},
    ModelType{"encoder_decoder", Task::translation},
    ModelType{"encoder", Task::token_classification},
    ModelType{"encoder", Task::question_answering},
    ModelType{"encoder", Task::fill_mask},
    ModelType{"encoder", Task::feature_extraction},
    ModelType{"decoder", Task::text_generation},
    ModelType{"encoder_decoder", Task::text2text_generation},
    ModelType{"encoder_classifier", Task::image_classification},
    ModelType{"dual_encoder", Task::zero_shot_image_classification},
};

constexpr std::size_t max_labels = 1 << 16;
constexpr std::size_t max_special_tokens = 64;

// --- fields, for reading and writing ---

void stack_fields(ConfigFields& visitor, StackConfig& stack, StackSide side, bool translates) {
  visitor.enter_stack(side, translates);
  fields(visitor, stack);
  visitor.leave_stack();
}

void tokenizer_fields(ConfigFields& visitor, ModelConfig& config) {
  visitor.flag("tokenizer_template", config.tokenizer_template, AbsentFlag::off);
  const bool named = config.tokenizer_template && !config.tokenizer_class.empty();
  if (visitor.has("tokenizer_class", named)) {
    visitor.text("tokenizer_class", config.tokenizer_class);
  }
  if (config.tokenizer_template) return;
  visitor.texts("prefix_tokens", config.prefix_tokens, max_special_tokens);
  visitor.texts("suffix_tokens", config.suffix_tokens, max_special_tokens);
}

// Visits the fields of a dual encoder that belong to neither of its stacks.
void dual_fields(ConfigFields& visitor, ModelConfig& config) {
  visitor.size("projection", config.architecture.head.outputs,
               {.most = max_width, .dimension = true});
  text_end_field(visitor, config.vectors.end_id);
  if (visitor.has("max_source_length", config.max_tokens > 0)) {
    visitor.size("max_source_length", config.max_tokens, {.most = max_positions});
  }
  enum_field(visitor, "clip", config.clip);
}

// Visits all fields except `format`, `model_type`, `task` and `generation`.
void fields(ConfigFields& visitor, ModelConfig& config) {
  Architecture& architecture = config.architecture;
  const HeadKind head = architecture.head.kind;
  const bool translates = linked_families.writing && config.task == Task::translation;
  if (translates) {
    visitor.text("source_language", config.source_language);
    visitor.text("target_language", config.target_language);
  }
  if (head == HeadKind::sequence_classes || head == HeadKind::token_classes) {
    visitor.texts("labels", config.labels, max_labels);
  }
  if (architecture.encoder) {
    stack_fields(visitor, *architecture.encoder, StackSide::encoder, translates);
  }
  if (architecture.decoder) {
    const StackSide side = architecture.encoder ? StackSide::second : StackSide::alone;
    stack_fields(visitor, *architecture.decoder, side, translates);
  }
  if (architecture.text_encoder) {
    stack_fields(visitor, *architecture.text_encoder, StackSide::texts, false);
    dual_fields(visitor, config);
    return tokenizer_fields(visitor, config);
  }
  const bool pictures = reads_pictures(config);
  if (architecture.encoder && !translates && !pictures &&
      visitor.has("max_positions", config.max_tokens > 0)) {
    visitor.size("max_source_length", config.max_tokens, {.most = max_positions});
  }
  if (!pictures) tokenizer_fields(visitor, config);
  if (writes(config.task)) {
    linked_families.writing->fields(visitor, config);
  } else {
    reading_fields(visitor, config);
  }
}

// --- checks ---

// Detects U+0000 … U+001F, U+007F … U+009F, and the line and paragraph separators.
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const std::string_view rest = text.substr(i);
    if (byte == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0) return true;
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) return true;
  }
  return false;
}

void check_labels(const std::vector<std::string>& labels, const FieldErrors& errors) {
  const auto fail = [&](const Message& problem) { errors.fail(nullptr, "labels", problem); };
  if (labels.empty()) fail("expected at least one label, got none");
  std::set<std::string_view> seen;
  for (const std::string& label : labels) {
    // It would break the lines of printed results.
    if (has_control_character(label)) {
      fail({"expected no control characters, got {}", {describe(label)}});
    }
    if (!seen.insert(label).second) {
      fail({"expected different labels, got {} twice", {describe(label)}});
    }
  }
}

void check_ids(const ModelConfig& config, const FieldErrors& errors) {
  const std::size_t rows = config.reader().vocab_size();
  const auto check = [&](const char* field, std::int32_t id) {
    if (static_cast<std::size_t>(id) < rows) return;
    errors.fail(nullptr, field, {"expected ids below {}, got {}", {rows, id}});
  };
  for (const std::int32_t id : config.generation.end_ids) check("end_ids", id);
  if (config.generation.start_id) check("start_id", *config.generation.start_id);
}

void check_vectors(const ModelConfig& config, const FieldErrors& errors) {
  const VectorConfig& vectors = config.vectors;
  if (!vectors.default_prompt.empty() && !vectors.find_prompt(vectors.default_prompt)) {
    errors.fail(nullptr, "default_prompt",
                {"expected the name of a prompt, got {}", {describe(vectors.default_prompt)}});
  }
  const std::size_t pooled = vectors.poolings.size() * config.encoder().d_model;
  const std::string problem = sizes_problem(config.architecture.head.modules, pooled);
  if (!problem.empty()) errors.fail(nullptr, "modules", problem);
}

void check_lengths(const ModelConfig& config, const FieldErrors& errors) {
  const std::size_t special = config.prefix_tokens.size() + config.suffix_tokens.size();
  const std::size_t length = config.max_source_length();
  if (length <= special) {
    errors.fail(nullptr, "max_source_length",
                {"expected more than the {} prefix and suffix tokens, got {}", {special, length}});
  }
  if (length > config.encoder().max_length) {
    errors.fail(
        nullptr, "max_positions",
        {"expected at least max_source_length {}, got {}", {length, config.encoder().max_length}});
  }
}

void validate(const ModelConfig& config, const FieldErrors& errors) {
  const Architecture& architecture = config.architecture;
  validate(architecture, errors);
  if (architecture.text_encoder) {
    return check_lengths(text_part(config), errors);
  }
  if (reads_pictures(config)) return check_labels(config.labels, errors);
  check_ids(config, errors);
  if (!config.labels.empty() || architecture.head.kind == HeadKind::sequence_classes ||
      architecture.head.kind == HeadKind::token_classes) {
    check_labels(config.labels, errors);
  }
  if (architecture.head.kind == HeadKind::vectors) check_vectors(config, errors);
  const EmbeddingSharing sharing = architecture.embeddings;
  if ((!architecture.encoder || !architecture.decoder) &&
      (sharing == EmbeddingSharing::shared || sharing == EmbeddingSharing::stacks)) {
    errors.fail(nullptr, "embeddings",
                {"expected \"tied\" or \"separate\", got \"{}\"", {name_of(sharing)}});
  }
  if (architecture.encoder) check_lengths(config, errors);
}

// --- reading ---

// Version, architecture and task come first: they decide whether the rest can be read.
const ModelType& type_of(JsonObject& object) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t format = object.integer("format", 0, any);
  if (format != format_version) {
    throw_error(ErrorCode::unsupported,
                {"config.json: format: expected {}, got {}", {format_version, format}});
  }
  const std::string model_type = object.string("model_type");
  const std::string task = object.string("task");
  std::string types, tasks;
  for (const ModelType& known : model_types) {
    const std::string name = "\"" + std::string(known.name) + "\"";
    if (types.find(name) == std::string::npos) types += (types.empty() ? "" : ", ") + name;
    if (model_type != known.name) continue;
    if (task == to_string(known.task)) return known;
    tasks += (tasks.empty() ? "\"" : ", \"") + std::string(to_string(known.task)) + "\"";
  }
  if (tasks.empty()) {
    throw_error(ErrorCode::unsupported, {"config.json: model_type: expected one of {}, got {}",
                                         {types, describe(model_type)}});
  }
  throw_error(ErrorCode::wrong_task,
              {"config.json: task: expected {}, that of model_type \"{}\", got {}",
               {tasks, model_type, describe(task)}});
}

HeadKind head_of(Task task) {
  switch (task) {
    case Task::text_classification:
    case Task::image_classification:
      return HeadKind::sequence_classes;
    case Task::token_classification:
      return HeadKind::token_classes;
    case Task::question_answering:
      return HeadKind::spans;
    case Task::fill_mask:
      return HeadKind::masked_tokens;
    case Task::feature_extraction:
    case Task::zero_shot_image_classification:
      return HeadKind::vectors;
    case Task::translation:
    case Task::text_generation:
    case Task::text2text_generation:
      break;
  }
  return HeadKind::next_token;
}

// Sets values that follow from the fields.
void derive(ModelConfig& config) {
  HeadConfig& head = config.architecture.head;
  switch (head.kind) {
    case HeadKind::sequence_classes:
    case HeadKind::token_classes:
      head.outputs = config.labels.size();
      break;
    case HeadKind::spans:
      head.outputs = 2;
      break;
    case HeadKind::masked_tokens:
      head.outputs = config.encoder().vocab_size();
      break;
    case HeadKind::next_token:
      head.outputs = config.decoder().vocab_size();
      break;
    case HeadKind::vectors:
      break;
  }
}

}  // namespace

const std::string* VectorConfig::find_prompt(std::string_view name) const {
  const auto found = std::ranges::find(
      prompts, name, [](const auto& prompt) -> std::string_view { return prompt.first; });
  return found == prompts.end() ? nullptr : &found->second;
}

std::string sizes_problem(std::span<const VectorModule> modules, std::size_t size) {
  for (const VectorModule& module : modules) {
    if (module.kind == VectorModule::Kind::normalize) continue;
    if (module.in != size) {
      return "expected a module for vectors of " + std::to_string(size) + " numbers, got one for " +
             std::to_string(module.in);
    }
    size = module.out;
  }
  return {};
}

bool writes(Task task) { return head_of(task) == HeadKind::next_token; }

ModelConfig parse_config(std::string_view json) {
  expect_within(config_limit, json.size());
  const JsonSource source{config_limit.code, config_limit.name};
  JsonObject object(parse_json(json, source), source);
  ModelConfig config;
  const ModelType& type = type_of(object);
  config.task = type.task;
  const bool decodes = writes(config.task) || type.decodes_to_classify;
  const bool compares = config.task == Task::zero_shot_image_classification;
  const bool pictures = compares || config.task == Task::image_classification;
  if ((decodes || pictures) && !all_linked()) throw NotLinked();
  Architecture& architecture = config.architecture;
  architecture.head.kind = head_of(config.task);
  if (config.task != Task::text_generation) architecture.encoder.emplace();
  if (pictures) architecture.encoder->input = PatchInput();
  if (compares) architecture.text_encoder.emplace();
  if (decodes) architecture.decoder.emplace();
  if (type.decodes_to_classify) architecture.embeddings = EmbeddingSharing::stacks;
  ConfigReader reader(object);
  fields(reader, config);
  derive(config);
  if (writes(config.task)) linked_families.writing->read_generation(object, config);
  object.finish();
  validate(config, ConfigErrors(reader, object, architecture, config.task == Task::translation));
  return config;
}

ModelConfig parse_tokenizer_fields(JsonObject& object) {
  ModelConfig config;
  config.task = type_of(object).task;
  ConfigReader reader(object);
  tokenizer_fields(reader, config);
  return config;
}

bool needs_tokenizer(const ModelConfig& config) {
  return config.architecture.decoder || config.architecture.text_encoder ||
         !reads_pictures(config.encoder());
}

ModelConfig text_part(const ModelConfig& config) {
  ModelConfig part = config;
  part.task = Task::feature_extraction;
  part.architecture = text_part(config.architecture);
  part.vectors.poolings = {TokenPooling::last_token};
  return part;
}

const char* to_string(Task task) { return name_of(task); }

std::optional<Task> find_task(std::string_view name) {
  const auto found = std::ranges::find(enum_names<Task>, name);
  if (found == enum_names<Task>.end()) return std::nullopt;
  return static_cast<Task>(found - enum_names<Task>.begin());
}

const char* to_string(TokenPooling pooling) { return name_of(pooling); }

ModelConfig expect_task(ModelConfig config, std::span<const Task> tasks) {
  std::string expected;
  for (const Task task : tasks) {
    if (config.task == task) return config;
    expected.append(expected.empty() ? "\"" : " or \"").append(to_string(task)).append("\"");
  }
  throw_error(ErrorCode::wrong_task,
              {"config.json: task: expected {}, got \"{}\"", {expected, to_string(config.task)}});
}

// --- writing ---

namespace {

// Writes the fields of `generation` that have no field of their own. A translator has a separate
// field for one end token; several are written here.
void write_generation_of(JsonWriter& json, const ModelConfig& config) {
  const std::vector<std::int32_t>& ends = config.generation.end_ids;
  const bool several = config.task == Task::translation && ends.size() > 1;
  GenerationConfig usual = {.start_id = config.generation.start_id, .end_ids = ends};
  if (!several && config.generation == usual) return;
  json.key("generation");
  json.object([&] {
    if (several) {
      json.key("eos_token_id");
      json.array(ends, [&](std::int32_t id) { json.value(id); });
    }
    write_generation(json, config.generation);
  });
}

}  // namespace

std::string to_json(const ModelConfig& config) {
  const auto type = std::ranges::find_if(model_types, [&](const ModelType& known) {
    return known.task == config.task &&
           known.decodes_to_classify == config.architecture.decodes_to_classify();
  });
  ModelConfig copy = config;  // a visitor needs a mutable object
  ConfigWriter writer(config.max_tokens > 0);
  fields(writer, copy);
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    json.field("format", format_version);
    json.field("model_type", type->name);
    json.field("task", to_string(config.task));
    writer.write(json);
    if (linked_families.writing && writes(config.task)) write_generation_of(json, config);
  });
  return json.take() + "\n";
}

const ChatConfig::Template* ChatConfig::find(std::string_view name) const {
  const auto found = std::ranges::find(templates, name, &Template::name);
  return found == templates.end() ? nullptr : &*found;
}

std::string ChatConfig::token(std::string_view name) const {
  for (const auto& [known, text] : tokens) {
    if (known == name) return text;
  }
  return {};
}

}  // namespace glassformer
