#include "tasks/chat/chat_template.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "jinja/letters.hpp"

namespace glassformer {
namespace {

using jinja::Value;
using Entries = std::vector<std::pair<std::string, Value>>;

constexpr JsonSource options_source{ErrorCode::invalid_option, "messages, variables"};

[[noreturn]] void refuse(const char* field, const Message& problem) {
  throw_error(ErrorCode::invalid_option, Field{field}, problem);
}

// Reads a JSON text that a field has.
JsonValue parse(std::string_view text, const char* field) {
  return parse_json(text, {ErrorCode::invalid_option, field});
}

Value* find(Entries& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entries::value_type::first);
  return found == entries.end() ? nullptr : &found->second;
}

void set(Entries& entries, std::string name, Value value) {
  if (Value* known = find(entries, name)) {
    *known = std::move(value);
  } else {
    entries.emplace_back(std::move(name), std::move(value));
  }
}

Entries entries_of(JsonValue object) {
  Entries entries;
  for (JsonEntries entry(object); entry.next();) {
    entries.emplace_back(entry.key(), jinja::from_json(entry.value()));
  }
  return entries;
}

std::vector<Entries> read_messages(std::string_view text) {
  const JsonValue array = parse(text, "messages");
  if (!array.is_array()) refuse("messages", {"expected an array, got {}", {describe(array)}});
  std::vector<Entries> messages;
  for (JsonEntries message(array); message.next();) {
    if (!message.value().is_object()) {
      refuse("messages", {"expected objects, got {}", {describe(message.value())}});
    }
    messages.push_back(entries_of(message.value()));
    const Value* role = find(messages.back(), "role");
    if (!role || !role->is_string()) {
      refuse("messages", {"{}: expected the field role, a text, got {}",
                          {messages.size() - 1, describe(message.value())}});
    }
  }
  if (messages.empty()) refuse("messages", "expected at least one, got none");
  return messages;
}

Entries read_variables(std::string_view text) {
  const JsonValue object = parse(text, "variables");
  if (!object.is_object()) refuse("variables", {"expected an object, got {}", {describe(object)}});
  for (JsonEntries entry(object); entry.next();) {
    const std::string name = entry.key();
    for (const char* own :
         {"messages", "add_generation_prompt", "continue_final_message", "chat_template"}) {
      if (name == own) refuse("variables", {"{}: expected it as an option of its own", {name}});
    }
    if (name != "tools" && name != "documents") continue;
    const JsonValue list = entry.value();
    if (list.type() == JsonValue::Type::null) continue;
    bool objects = list.is_array();
    if (objects) {
      for (JsonEntries each(list); each.next();) objects &= each.value().is_object();
    }
    if (!objects) {
      refuse("variables", {"{}: expected an array of objects, got {}", {name, describe(list)}});
    }
  }
  return entries_of(object);
}

// As Python's str.rstrip.
std::string_view without_space_behind(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!jinja::is_space(jinja::next_character(text, at))) end = at;
  }
  return text.substr(0, end);
}

// As Python's str.strip.
std::string_view without_space(std::string_view text) {
  text = without_space_behind(text);
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); start = at) {
    if (!jinja::is_space(jinja::next_character(text, at))) break;
  }
  return text.substr(start);
}

// A field of the last message that the model continues. The field gets a mark at its end, by which
// its end is found in the text of the chat.
class Continued {
 public:
  // Throws if the field has no text.
  Continued(Entries& message, const std::string& field) {
    Value* value = find(message, field);
    if (!value || value->is_none()) fail({"expected a last message with {}, got none", {field}});
    if (value->is_string()) {
      mark(*value);
    } else if (value->is(jinja::Kind::list)) {
      mark_last_part(*value);
    } else {
      fail({"{}: expected a text or an array of parts", {field}});
    }
  }

  // Returns the beginning of the chat's text, up to the end of the field.
  std::string cut(std::string text) const {
    const std::string_view bare = mark_.substr(0, mark_.size() - 1);
    const std::size_t end = text.rfind(bare);
    if (end == std::string::npos || text.find(without_space(original_)) == std::string::npos) {
      fail("expected a template that keeps the last message, got one that changes or omits it");
    }
    const bool exact = std::string_view(text).substr(end).starts_with(mark_);
    text.resize(end);
    if (!exact) text.resize(without_space_behind(text).size());
    return text;
  }

 private:
  [[noreturn]] static void fail(const Message& problem) {
    refuse("continue_final_message", problem);
  }

  void mark(Value& value) {
    original_ = value.string();
    value = Value(original_ + std::string(mark_));
  }

  void mark_last_part(Value& list) {
    std::vector<Value> parts = list.items();
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (!part->is(jinja::Kind::dict)) continue;
      Entries fields;
      for (const jinja::Dict::Entry& entry : part->entries().entries) {
        fields.emplace_back(entry.key.string(), entry.value);
      }
      Value* text = find(fields, "text");
      if (!text || !text->is_string()) continue;
      mark(*text);
      *part = Value::dict(std::move(fields));
      list = Value::list(std::move(parts));
      return;
    }
    fail("expected a last message with a text, got none");
  }

  // A template that trims the message takes the space off.
  static constexpr std::string_view mark_ = "CONTINUE_FINAL_MESSAGE_TAG ";
  std::string original_;
};

jinja::DateTime read_now(JsonValue value) {
  std::array<int, 7> numbers = {};
  std::size_t count = 0;
  if (value.is_array()) {
    for (JsonEntries entry(value); entry.next(); ++count) {
      if (count == numbers.size() || !entry.value().is_whole()) break;
      numbers[count] = static_cast<int>(std::min<std::uint64_t>(entry.value().whole(), 1'000'000));
    }
  }
  if (count != numbers.size()) refuse("now", {"expected 7 numbers, got {}", {describe(value)}});
  return {.year = numbers[0],
          .month = numbers[1],
          .day = numbers[2],
          .hour = numbers[3],
          .minute = numbers[4],
          .second = numbers[5],
          .microsecond = numbers[6]};
}

}  // namespace

ChatTemplate::ChatTemplate(const ChatConfig& config) : config_(config) {
  if (config.templates.empty()) {
    throw_error(ErrorCode::unsupported,
                "expected a model with a chat_template in its tokenizer_config.json, or with "
                "chat_template.jinja, got one without");
  }
  if (const ChatConfig::Template* usual = config.find("default")) usual_.emplace(usual->source);
}

ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

const ChatConfig::Template& ChatTemplate::named(const ChatPromptOptions& options,
                                                bool has_tools) const {
  const ChatConfig::Template* found = nullptr;
  if (options.chat_template) {
    found = config_.find(*options.chat_template);
  } else {
    if (has_tools) found = config_.find("tool_use");
    if (!found) found = config_.find("default");
  }
  if (found) return *found;
  std::string known;
  for (const ChatConfig::Template& each : config_.templates) {
    known.append(known.empty() ? "" : ", ").append(each.name);
  }
  refuse("chat_template",
         {"expected one of {}, got {}",
          {shortened(std::move(known), 200),
           options.chat_template ? describe(std::string_view(*options.chat_template)) : "none"}});
}

std::string ChatTemplate::text(std::string_view messages, const ChatPromptOptions& options,
                               const jinja::DateTime& now) const {
  std::vector<Entries> all = read_messages(messages);
  Entries variables;
  for (const auto& [name, token] : config_.tokens) variables.emplace_back(name, Value(token));
  for (auto& [name, value] : read_variables(options.variables)) {
    set(variables, std::move(name), std::move(value));
  }
  for (const char* name : {"tools", "documents"}) {  // as the original library does
    if (!find(variables, name)) set(variables, name, Value());
  }
  const bool has_tools = !find(variables, "tools")->is_none();
  const ChatConfig::Template& form = named(options, has_tools);

  const std::string& field = options.continue_final_message;
  std::optional<Continued> continued;
  if (!field.empty()) {
    if (options.add_generation_prompt.value_or(false)) {
      refuse("continue_final_message", "expected add_generation_prompt to be false");
    }
    if (form.source.find(field) == std::string::npos) {
      refuse("continue_final_message", {"expected a field that the template reads, got {}",
                                        {describe(std::string_view(field))}});
    }
    continued.emplace(all.back(), field);
  }
  std::vector<Value> list;
  for (Entries& message : all) list.push_back(Value::dict(std::move(message)));
  set(variables, "messages", Value::list(std::move(list)));
  set(variables, "add_generation_prompt",
      Value(options.add_generation_prompt.value_or(field.empty())));

  const Value given = Value::dict(std::move(variables));
  const jinja::RenderOptions rendering = {.now = now, .limits = {}};
  std::string text = usual_ && form.name == "default"
                         ? usual_->render(given, rendering)
                         : jinja::Template(form.source).render(given, rendering);
  return continued ? continued->cut(std::move(text)) : text;
}

std::string ChatTemplate::text(std::string_view request) const {
  JsonObject object(parse_json(request, options_source), options_source);
  ChatPromptOptions options;
  if (present(object.find("add_generation_prompt"))) {
    options.add_generation_prompt = object.boolean("add_generation_prompt");
  }
  if (present(object.find("continue_final_message"))) {
    options.continue_final_message = object.string("continue_final_message");
  }
  if (present(object.find("chat_template"))) options.chat_template = object.string("chat_template");
  if (const JsonValue* given = present(object.find("variables"))) options.variables = given->text();
  const jinja::DateTime now = read_now(object.require("now"));
  const std::string_view messages = object.require("messages").text();
  object.finish();
  return text(messages, options, now);
}

void check_chat_variables(std::string_view variables) { read_variables(variables); }

std::string render_chat(const ChatConfig& config, std::string_view request) {
  return ChatTemplate(config).text(request);
}

std::string to_json(std::span<const ChatMessage> messages) {
  JsonWriter json;
  json.array(messages, [&](const ChatMessage& message) {
    const JsonValue more = parse(message.fields, "messages");
    if (!more.is_object()) {
      refuse("messages", {"fields: expected a JSON object, got {}", {describe(more)}});
    }
    bool has_content = false;
    for (JsonEntries entry(more); entry.next();) {
      if (entry.key() == "role") refuse("messages", "fields: expected no role");
      has_content |= entry.key() == "content";
    }
    json.object([&] {
      json.field("role", message.role);
      if (!has_content) json.field("content", message.content);
      for (JsonEntries entry(more); entry.next();) {
        json.key(entry.key());
        json.raw(entry.value().text());
      }
    });
  });
  return json.take();
}

}  // namespace glassformer
