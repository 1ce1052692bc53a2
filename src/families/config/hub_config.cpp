#include "families/config/hub_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "families/config/config_fields.hpp"
#include "families/config/generation_config.hpp"

namespace glassformer {
namespace {

constexpr std::uint32_t largest_size = 1 << 24;
constexpr std::size_t most_labels = 1 << 16;

constexpr std::array<std::pair<std::string_view, Activation>, 13> activations = {{
    {"relu", Activation::relu},
    {"gelu", Activation::gelu},
    {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_accurate", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"quick_gelu", Activation::quick_gelu},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
    {"tanh", Activation::tanh},
    {"linear", Activation::linear},
}};

}  // namespace

HubConfig::HubConfig(std::string_view json, std::span<const SafetensorsHeader> headers,
                     const Tokenizer* tokenizer, std::string_view name)
    : source_{config_limit.code, name},
      text_(json),
      object_(parse_json(text_, source_), source_, {}, most_fields),
      bounded_(!headers.empty()),
      tokenizer_(tokenizer) {
  for (const SafetensorsHeader& header : headers) {
    for (const TensorInfo& tensor : header.tensors()) {
      tensors_.insert(tensor.name);
      for (const std::size_t size : tensor.shape)
        largest_ = std::max<std::uint64_t>(largest_, size);
    }
  }
}

HubConfig::HubConfig(const HubConfig& whole, std::string text, std::string_view path)
    : source_(whole.source_),
      text_(std::move(text)),
      object_(parse_json(text_, source_), source_, path, most_fields),
      tensors_(whole.tensors_),
      bounded_(whole.bounded_),
      largest_(whole.largest_),
      tokenizer_(whole.tokenizer_) {}

HubConfig HubConfig::part(const char* key) {
  const JsonValue* value = find(key);
  if (value && !value->is_object()) object_.fail(key, "an object", *value);
  return {*this, value ? std::string(value->text()) : "{}", key};
}

std::string HubConfig::text(const char* key, std::string_view fallback) {
  return present(object_.find(key)) ? object_.string(key) : std::string(fallback);
}

std::size_t HubConfig::size(const char* key, std::size_t fallback) {
  const std::size_t size = free_size(key, fallback);
  if (!bounded_ || size <= largest_ || !present(object_.find(key))) return size;
  object_.fail(
      key, {"expected at most {}, the largest dimension in the weights, got {}", {largest_, size}});
}

std::size_t HubConfig::free_size(const char* key, std::size_t fallback) {
  if (!present(object_.find(key))) return fallback;
  return static_cast<std::size_t>(object_.integer(key, 1, largest_size));
}

std::size_t HubConfig::id(const char* key, std::size_t fallback) {
  if (!present(object_.find(key))) return fallback;
  return static_cast<std::size_t>(object_.integer(key, 0, largest_size));
}

std::string HubConfig::piece(const char* key, std::size_t fallback) {
  return std::string(tokenizer_->piece(token(key, fallback)));
}

std::int32_t HubConfig::token(const char* key, std::size_t fallback) {
  const std::size_t token = id(key, fallback);
  if (token >= tokenizer_->size()) {
    source_.fail({"{}: expected one of the tokenizer's {} tokens, got {}",
                  {key, tokenizer_->size(), token}});
  }
  return static_cast<std::int32_t>(token);
}

std::array<std::size_t, 2> HubConfig::sides(const char* key, std::size_t fallback) {
  const JsonValue* value = present(object_.find(key));
  std::array<std::size_t, 2> sides = {fallback, fallback};
  if (!value) return sides;
  constexpr std::uint64_t most = 1 << 12;
  if (!value->is_array()) {
    sides.fill(static_cast<std::size_t>(object_.integer(key, 1, most)));
    return sides;
  }
  if (count_entries(*value) != 2) object_.fail(key, "a height and a width", *value);
  JsonEntries entry(*value);
  for (std::size_t& side : sides) {
    entry.next();
    side = static_cast<std::size_t>(object_.integer(key, entry.value(), 1, most));
  }
  return sides;
}

bool HubConfig::flag(const char* key, bool fallback) {
  return present(object_.find(key)) ? object_.boolean(key) : fallback;
}

std::optional<Activation> find_activation(std::string_view name, std::string* known) {
  if (known) *known = "one of";
  for (const auto& [other, activation] : activations) {
    if (name == other) return activation;
    if (known) known->append(known->ends_with("of") ? " \"" : ", \"").append(other).append("\"");
  }
  return std::nullopt;
}

std::string_view activation_name(Activation activation) {
  for (const auto& [name, known] : activations) {
    if (known == activation) return name;
  }
  return {};
}

Activation HubConfig::activation(const char* key, std::string_view fallback) {
  const std::string name = text(key, fallback);
  std::string known;
  if (const auto found = find_activation(name, &known)) return *found;
  refuse(key, known, describe(name));
}

void HubConfig::refuse(const char* key, const Message& expected, const Message& got) const {
  throw_error(
      ErrorCode::unsupported,
      {"{}: {}: expected {}, got {}; models that compute something else cannot be read: choose "
       "another checkpoint",
       {source_.name, key, expected, got}});
}

void HubConfig::expect_text(const char* key, std::string_view value) {
  const std::string got = text(key, value);
  if (got != value) refuse(key, describe(value), describe(got));
}

void HubConfig::expect_flag(const char* key, bool value) {
  if (flag(key, value) != value) {
    refuse(key, value ? "true" : "false", value ? "false" : "true");
  }
}

std::vector<std::string> HubConfig::labels(std::size_t usual) {
  const JsonValue* names = present(object_.find("id2label"));
  if (!names) {
    std::vector<std::string> labels(size("num_labels", size("_num_labels", usual)));
    if (labels.size() > most_labels) object_.fail("num_labels", "expected at most 65536 labels");
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = "LABEL_" + std::to_string(i);
    return labels;
  }
  if (!names->is_object()) object_.fail("id2label", "an object", *names);
  std::vector<std::string> labels(count_entries(*names));
  if (labels.empty() || labels.size() > most_labels) {
    object_.fail("id2label", "from 1 to 65536 labels", *names);
  }
  // Keys are numbers as text, in any order.
  for (JsonEntries entry(*names); entry.next();) {
    const std::string key = entry.key();
    std::size_t id = labels.size();
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (end != key.data() + key.size() || id >= labels.size()) {
      object_.fail("id2label", {"expected the numbers below {} as keys, got {}",
                                {labels.size(), describe(key)}});
    }
    if (!entry.value().is_string()) {
      object_.fail("id2label", "texts as labels", entry.value());
    }
    labels[id] = entry.value().string();
    if (labels[id].empty()) object_.fail("id2label", "nonempty labels", entry.value());
  }
  return labels;
}

Scoring scoring_of(std::string_view problem_type, std::size_t labels) {
  if (problem_type == "regression") return Scoring::raw;
  const bool several = problem_type == "multi_label_classification";
  if (!several && !problem_type.empty() && problem_type != "single_label_classification") {
    throw_error(ErrorCode::invalid_config,
                {"config.json: problem_type: expected \"regression\", "
                 "\"single_label_classification\" or \"multi_label_classification\", got \"{}\"",
                 {problem_type}});
  }
  return several || labels == 1 ? Scoring::sigmoid : Scoring::softmax;
}

bool HubConfig::has_tensor(std::string_view name_or_end) const {
  return std::ranges::any_of(tensors_, [&](const std::string& name) {
    return name == name_or_end || name.ends_with("." + std::string(name_or_end));
  });
}

namespace {

// Returns the first of a list of names, if there is one.
std::optional<std::string> first_of(const JsonValue* names) {
  if (!names || !names->is_array() || count_entries(*names) == 0) return std::nullopt;
  JsonEntries first(*names);
  first.next();
  return first.value().is_string() ? first.value().string() : "";
}

}  // namespace

bool HubConfig::names_class(JsonObject& config, std::string_view end) {
  return first_of(present(config.find("architectures"))).value_or("").ends_with(end);
}

void HubConfig::expect_end_token(const char* key, std::int32_t id) const {
  const TokenTemplate around = tokenizer_->around();
  for (const std::vector<TemplatePart>* parts : {&around.single, &around.pair}) {
    if (parts->empty()) continue;
    const TemplatePart& last = parts->back();
    if (last.kind == TemplatePart::Kind::special && last.id == id) continue;
    throw_error(
        ErrorCode::unsupported,
        {"{}: {}: expected the token that the tokenizer puts at the end of every text, from "
         "which the model answers, got {}",
         {source_.name, key, id}});
  }
}

void HubConfig::expect_embeddings(const MaskedHead& masked) {
  masked_table_ = masked.table;
  if (task(masked.layer) != Task::fill_mask) expect_own_table();
}

void HubConfig::expect_own_table() const {
  constexpr std::string_view table = "embeddings.word_embeddings.weight";
  if (masked_table_.empty() || has_tensor(table) || !has_tensor(masked_table_)) return;
  throw_error(ErrorCode::missing_tensor,
              {"{}: expected the table of embeddings, got only {}, the output of a masked language "
               "model, which the library uses as the table only for that task; save the model "
               "again with AutoModelForMaskedLM.from_pretrained(...).save_pretrained(...)",
               {table, masked_table_}});
}

void HubConfig::expect_architecture(std::string_view name) {
  const std::optional<std::string> got = first_of(present(object_.find("architectures")));
  if (got && *got != name) refuse("architectures", describe(name), describe(*got));
}

Task HubConfig::task(std::string_view masked) {
  static constexpr std::array<std::pair<std::string_view, Task>, 6> heads = {{
      {"ForSequenceClassification", Task::text_classification},
      {"ForTokenClassification", Task::token_classification},
      {"ForQuestionAnswering", Task::question_answering},
      {"Model", Task::feature_extraction},
      {"ForMaskedLM", Task::fill_mask},
      {"ForPreTraining", Task::fill_mask},
  }};
  // A file may name this head without having it, as when a model was saved only to make vectors.
  const Task headless = has_tensor(masked) ? Task::fill_mask : Task::feature_extraction;
  if (const auto name = first_of(present(object_.find("architectures")))) {
    for (const auto& [end, task] : heads) {
      if (!name->ends_with(end) || name->ends_with("LMHeadModel")) continue;
      return task == Task::fill_mask ? headless : task;
    }
    refuse("architectures",
           "a model for sequence classification, token classification, question answering or "
           "masked tokens, or one without a head",
           describe(*name));
  }
  if (has_tensor("qa_outputs.weight")) return Task::question_answering;
  if (has_tensor("pre_classifier.weight") || has_tensor("classifier.out_proj.weight")) {
    return Task::text_classification;
  }
  // Not one inside another head, such as DeBERTa's mask_predictions.classifier.
  if (!tensors_.contains("classifier.weight")) return headless;
  if (!has_tensor("pooler.dense.weight") && !has_tensor("pooler.weight")) {
    return Task::token_classification;
  }
  object_.fail("architectures",
               "missing, and its tensors fit a classifier of texts and one of tokens; add "
               "\"architectures\": [\"…ForSequenceClassification\"] or […ForTokenClassification]");
}

void HubConfig::read_head(ModelConfig& config, const HeadDense& dense, const MaskedHead& masked) {
  HeadConfig& head = config.architecture.head;
  config.task = task(masked.layer);
  config.tokenizer_template = true;
  switch (config.task) {
    case Task::text_classification:
      read_text_classes(config, dense, Pooling::first);
      break;
    case Task::token_classification:
      config.labels = labels();
      head = {.kind = HeadKind::token_classes, .outputs = config.labels.size()};
      break;
    case Task::question_answering:
      head = {.kind = HeadKind::spans, .outputs = 2};
      break;
    case Task::fill_mask:
      head = {.kind = HeadKind::masked_tokens,
              .outputs = config.encoder().vocab_size(),
              .dense = HeadDense{.activation = masked.activation.value_or(
                                     config.encoder().layers[0].feed_forward.activation),
                                 .bias = masked.dense_bias,
                                 .norm = true},
              .bias = masked.bias};
      config.architecture.embeddings =
          flag("tie_word_embeddings", true) ? EmbeddingSharing::tied : EmbeddingSharing::separate;
      break;
    case Task::feature_extraction:
      leave_out_head(config);
      break;
    case Task::translation:
    case Task::text_generation:
    case Task::text2text_generation:
    case Task::image_classification:
    case Task::zero_shot_image_classification:
      break;
  }
}

void HubConfig::read_text_classes(ModelConfig& config, const HeadDense& dense, Pooling pooling,
                                  std::size_t usual) {
  config.task = Task::text_classification;
  config.tokenizer_template = true;
  config.labels = labels(usual);
  config.scoring = scoring_of(text("problem_type", ""), config.labels.size());
  config.architecture.head = {.kind = HeadKind::sequence_classes,
                              .outputs = config.labels.size(),
                              .pooling = pooling,
                              .dense = dense};
}

void HubConfig::read_picture_classes(ModelConfig& config, Pooling pooling) {
  static constexpr std::string_view one = "ForImageClassification",
                                    two = "ForImageClassificationWithTeacher";
  const std::string name =
      first_of(present(object_.find("architectures")))
          .value_or(std::string(has_tensor("distillation_classifier.weight") ? two
                                : has_tensor("classifier.weight")            ? one
                                                                             : "none"));
  if (!name.ends_with(one) && !name.ends_with(two)) {
    refuse("architectures", "a model for image classification", describe(name));
  }
  config.task = Task::image_classification;
  config.labels = labels();
  config.scoring = scoring_of(text("problem_type", ""), config.labels.size());
  config.architecture.head = {.kind = HeadKind::sequence_classes,
                              .outputs = config.labels.size(),
                              .pooling = pooling,
                              .distilled = name.ends_with(two)};
}

void HubConfig::read_projections(ModelConfig& config) {
  config.task = Task::zero_shot_image_classification;
  config.tokenizer_template = true;
  config.architecture.head = {.kind = HeadKind::vectors, .outputs = size("projection_dim", 512)};
}

void HubConfig::leave_out_head(ModelConfig& config) {
  expect_own_table();
  if (const auto name = first_of(present(object_.find("architectures")));
      name && !name->ends_with("Model")) {
    config.unused_head = *name;
  }
  config.architecture.embeddings = EmbeddingSharing::separate;
  read_vectors(config);
}

void HubConfig::read_vectors(ModelConfig& config) {
  config.task = Task::feature_extraction;
  config.tokenizer_template = true;
  config.architecture.head = {.kind = HeadKind::vectors};
  config.vectors.poolings = {TokenPooling::mean};
}

void HubConfig::read_next_token(ModelConfig& config, bool tied) {
  const std::string head = first_of(present(object_.find("architectures"))).value_or("");
  const bool known = head.empty() || head.ends_with("LMHeadModel") || head.ends_with("Model") ||
                     head.ends_with("ForCausalLM");
  if (!known) refuse("architectures", "a model that continues texts", describe(head));
  config.task = Task::text_generation;
  config.tokenizer_template = true;
  Architecture& architecture = config.architecture;
  architecture.head = {
      .kind = HeadKind::next_token, .outputs = architecture.decoder->vocab_size(), .bias = false};
  architecture.embeddings =
      flag("tie_word_embeddings", tied) ? EmbeddingSharing::tied : EmbeddingSharing::separate;
  read_generation(config.generation);
}

void HubConfig::read_generation(GenerationConfig& config) {
  config.early_stopping = EarlyStopping::no;
  glassformer::read_generation(object_, config);
  read_tasks(object_, config);
}

void HubConfig::read_text_to_text(ModelConfig& config) {
  const std::string head = first_of(present(object_.find("architectures"))).value_or("");
  if (!head.empty() && !head.ends_with("Model") && !head.ends_with("ForConditionalGeneration")) {
    refuse("architectures", "a model that answers texts with texts", describe(head));
  }
  config.task = Task::text2text_generation;
  config.tokenizer_template = true;
  Architecture& architecture = config.architecture;
  architecture.head = {
      .kind = HeadKind::next_token, .outputs = architecture.decoder->vocab_size(), .bias = false};
  read_generation(config.generation);
}

namespace {

// Reads a stack's fields by a family's keys.
class KeyedFields final : public Fields {
 public:
  // Throws if the weights have fewer layers, or no dimension this large.
  struct Bounds {
    std::optional<std::uint64_t> largest, layers;
  };

  KeyedFields(HubConfig& config, const StackKeys& keys, const Bounds& bounds)
      : config_(config), keys_(keys), bounds_(bounds) {}

  bool has(const char* name, bool present) override {
    const ConfigKey* key = find(name);
    return key ? key_value_ || key->absent : present;
  }

  void size(const char* name, std::size_t& value, const SizeRule& rule,
            std::size_t absent) override {
    const ConfigKey* key = find(name);
    if (!key_value_) {
      const bool usual = key && key->absent;
      if (usual) value = static_cast<std::size_t>(JsonValue(key->absent).whole());
      if (!usual && absent != required && value == 0) value = absent;
      return;
    }
    value = static_cast<std::size_t>(
        object().integer(key->theirs, *key_value_, rule.least, std::max(rule.most, largest_size)));
    const bool counts_layers = std::string_view(name) == "layers";
    if (counts_layers && bounds_.layers && value > *bounds_.layers) {
      object().fail(key->theirs, {"expected at most {}, the layers that the weights have, got {}",
                                  {*bounds_.layers, value}});
    }
    if (rule.dimension && bounds_.largest && value > *bounds_.largest) {
      object().fail(key->theirs,
                    {"expected at most {}, the largest dimension in the weights, got {}",
                     {*bounds_.largest, value}});
    }
  }

  void number(const char* name, float& value, NumberRange range) override {
    const ConfigKey* key = find(name);
    if (key_value_) {
      value = number_in(object(), key->theirs, *key_value_, range);
    } else if (key && key->absent) {
      value = static_cast<float>(JsonValue(key->absent).number());
    }
  }

  void flag(const char* name, bool& value, AbsentFlag) override {
    const ConfigKey* key = find(name);
    if (key_value_) {
      value = object().boolean(key->theirs, *key_value_);
    } else if (key && key->absent) {
      value = std::string_view(key->absent) == "true";
    }
  }

  // Only activations are named in files.
  void choose(const char* name, std::size_t& value, EnumNames, std::size_t) override {
    if (const ConfigKey* key = find(name)) {
      const std::string usual = JsonValue(key->absent).string();
      const std::string theirs(key->theirs);
      value = static_cast<std::size_t>(config_.activation(theirs.c_str(), usual));
    }
  }

  void text(const char*, std::string&) override {}
  void texts(const char*, std::vector<std::string>&, std::size_t) override {}
  void refuse(const char*, const char*) override {}
  void enter_layer(std::size_t, std::size_t) override {}
  void leave_layers() override {}

 private:
  // Returns the key for one of our fields, or null. Sets key_value_ to its value if the file has
  // one.
  const ConfigKey* find(std::string_view name) {
    key_value_ = nullptr;
    const auto found = std::ranges::find(keys_.keys, name, &ConfigKey::ours);
    if (found == keys_.keys.end()) return nullptr;
    key_value_ = present(object().find(found->theirs));
    return &*found;
  }

  JsonObject& object() { return config_.object(); }

  HubConfig& config_;
  const StackKeys& keys_;
  Bounds bounds_;
  const JsonValue* key_value_ = nullptr;
};

}  // namespace

void HubConfig::read(StackConfig& stack, const StackKeys& keys) {
  KeyedFields::Bounds bounds;
  if (bounded_) {
    bounds.largest = largest_;
    if (!keys.layer_tensors.empty()) bounds.layers = count_layers(keys.layer_tensors);
  }
  read_.push_back(keys);
  KeyedFields visitor(*this, keys, bounds);
  fields(visitor, stack);
}

std::size_t HubConfig::count_layers(std::string_view begin) const {
  std::set<std::string_view> numbers;
  for (const std::string_view name : tensors_) {
    const std::size_t place = name.find(begin);
    if (place == std::string_view::npos || (place > 0 && name[place - 1] != '.')) continue;
    const std::string_view rest = name.substr(place + begin.size());
    const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (!number.empty()) numbers.insert(number);
  }
  return numbers.size();
}

namespace {

// Files give the rows of the position table, which may begin with unused ones.
void subtract_offset(const JsonSource& source, StackConfig& stack) {
  if (reads_pictures(stack)) return;
  const std::size_t offset = stack.tokens().position_offset;
  if (offset >= stack.max_length) {
    source.fail(
        {"the number of positions: expected more than {}, got {}", {offset, stack.max_length}});
  }
  stack.max_length -= offset;
}

}  // namespace

void HubConfig::finish(ModelConfig& config) {
  Architecture& architecture = config.architecture;
  if (architecture.encoder) expect_flag("is_decoder", false);
  for (std::optional<StackConfig>* stack : {&architecture.encoder, &architecture.decoder}) {
    if (*stack) subtract_offset(source_, **stack);
  }
  checked_ = &architecture;
  validate(architecture, *this);
  checked_ = nullptr;
}

void HubConfig::fail(const StackConfig* stack, const char* field, const Message& problem) const {
  const bool second = stack && checked_ && checked_->decoder && stack == &*checked_->decoder;
  const StackKeys* keys = read_.empty() ? nullptr : second ? &read_.back() : &read_.front();
  std::string_view name = field;
  if (keys) {
    const auto key = std::ranges::find(keys->keys, name, &ConfigKey::ours);
    if (key != keys->keys.end()) name = key->theirs;
  }
  object_.fail(name, problem);
}

}  // namespace glassformer
