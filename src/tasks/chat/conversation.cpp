#include "tasks/chat/conversation.hpp"

#include <ctime>
#include <minja/minja.hpp>

#include "base/error.hpp"

namespace glassformer {
namespace {

using Json = nlohmann::ordered_json;
using Value = minja::Value;
using Scope = std::shared_ptr<minja::Context>;

// The local time in the form that a template asks for, such as "%d %b %Y".
Value now(const Scope&, minja::ArgumentsValue& arguments) {
  arguments.expectArgs("strftime_now", {1, 1}, {0, 0});
  const auto form = arguments.args[0].get<std::string>();
  const std::time_t seconds = std::time(nullptr);
  std::tm local = {};
  localtime_r(&seconds, &local);
  std::string text(form.size() * 16 + 64, '\0');
  text.resize(std::strftime(text.data(), text.size(), form.c_str(), &local));
  return text;
}

// Two filters of Jinja that minja lacks.
Value replace(const Scope&, minja::ArgumentsValue& arguments) {
  arguments.expectArgs("replace", {3, 3}, {0, 0});
  auto text = arguments.args[0].get<std::string>();
  const auto from = arguments.args[1].get<std::string>();
  const auto to = arguments.args[2].get<std::string>();
  if (from.empty()) throw std::runtime_error("replace: expected a text to replace, got none");
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Value first(const Scope&, minja::ArgumentsValue& arguments) {
  arguments.expectArgs("first", {1, 1}, {0, 0});
  Value& items = arguments.args[0];
  return items.size() > 0 ? items.at(0) : Value();
}

// The variables of a rendering. In minja, a macro and the variables at its definition own each
// other, so that neither would be freed. Setting the variables to null ends that.
class Variables {
 public:
  explicit Variables(const Json& values) : scope_(minja::Context::make(Value(values))) {}
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const Value& name : scope_->keys()) scope_->set(name, Value());
  }

  const Scope& scope() const { return scope_; }

 private:
  Scope scope_;
};

Json read_variables(const std::string& text) {
  Json variables = Json::parse(text, nullptr, false);
  if (!variables.is_object()) {
    throw_error(ErrorCode::invalid_option, {"variables: expected a JSON object, got {}", {text}});
  }
  return variables;
}

}  // namespace

struct ChatTemplate::Parsed {
  std::shared_ptr<minja::TemplateNode> root;
};

ChatTemplate::ChatTemplate(const ChatConfig& config)
    : config_(config), parsed_(std::make_unique<Parsed>()) {
  if (config.form.empty()) {
    throw_error(ErrorCode::unsupported,
                "expected a model with a chat_template in its tokenizer_config.json, or with "
                "chat_template.jinja, got one without");
  }
  try {
    // As the library that made the templates parses them.
    parsed_->root = minja::Parser::parse(
        config.form, {.trim_blocks = true, .lstrip_blocks = true, .keep_trailing_newline = false});
  } catch (const std::exception& error) {
    throw_error(ErrorCode::unsupported, {"chat_template: {}", {error.what()}});
  }
}

ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

std::string ChatTemplate::text(std::span<const ChatMessage> messages,
                               const ChatPromptOptions& options) const {
  if (messages.empty()) {
    throw_error(ErrorCode::invalid_option, "messages: expected at least one, got none");
  }
  Json variables = {{"tools", nullptr}, {"documents", nullptr}};  // as the original library does
  variables.update(read_variables(options.variables));
  Json& list = variables["messages"] = Json::array();
  for (const ChatMessage& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  variables["add_generation_prompt"] = options.add_generation_prompt;
  variables["bos_token"] = config_.bos;
  variables["eos_token"] = config_.eos;
  try {
    const Variables given(variables);
    given.scope()->set("strftime_now", Value::callable(now));
    given.scope()->set("replace", Value::callable(replace));
    given.scope()->set("first", Value::callable(first));
    return parsed_->root->render(given.scope());
  } catch (const std::exception& error) {
    const std::string_view what = error.what();  // the message, and lines of the template
    const std::string_view line = what.substr(0, what.find('\n'));
    throw_error(ErrorCode::invalid_option,
                {"messages: {}", {line.substr(0, line.rfind(" at row "))}});
  }
}

Conversation::Conversation(const ChatConfig& config, const ChatOptions& options)
    : template_(config), options_({.variables = options.variables}) {
  read_variables(options.variables);
  if (options.system) messages_.push_back({"system", *options.system});
}

std::string Conversation::prompt(std::string_view content) const {
  std::vector<ChatMessage> all = messages_;
  all.push_back({"user", std::string(content)});
  return template_.text(all, options_);
}

void Conversation::add(std::string_view content, std::string answer) {
  messages_.push_back({"user", std::string(content)});
  messages_.push_back({"assistant", std::move(answer)});
}

GenerateOptions turn_options(const GenerateOptions& options) {
  GenerateOptions turn = options;
  turn.special_tokens = false;
  turn.prefix = false;
  turn.keep = true;
  return turn;
}

}  // namespace glassformer
