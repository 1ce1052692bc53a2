#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/tasks/chat.hpp"
#include "families/config/model_config.hpp"
#include "jinja/template.hpp"

namespace glassformer {

/// The templates of a folder, in the language Jinja. They make one text of the messages of a chat,
/// as apply_chat_template of the library transformers does.
class ChatTemplate {
 public:
  /// Throws `unsupported` if the folder has no template, or one that is not valid.
  explicit ChatTemplate(const ChatConfig& config);
  ChatTemplate(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  /// Returns the text of some messages: a JSON array of objects. Throws `invalid_option` for
  /// messages and options that do not fit, and the errors of jinja::Template::render.
  std::string text(std::string_view messages, const ChatPromptOptions& options,
                   const jinja::DateTime& now) const;

  /// The same for a request {"messages", "now": [year, month, day, hour, minute, second,
  /// microsecond]} with the options by their names: their `variables` are an object.
  std::string text(std::string_view request) const;

 private:
  const ChatConfig::Template& named(const ChatPromptOptions& options, bool has_tools) const;

  ChatConfig config_;
  std::optional<jinja::Template> usual_;  // the template that most texts use
};

/// Throws `invalid_option` for variables of a template that are no JSON object, or have a name or
/// a value that they may not have.
void check_chat_variables(std::string_view variables);

/// Returns messages as a JSON array. Throws `invalid_option` for fields that are no JSON object.
std::string to_json(std::span<const ChatMessage> messages);

/// Answers a request as ChatTemplate::text does. Null in a program without models that write
/// (src/linked).
extern std::string (*const render_linked_chat)(const ChatConfig& config, std::string_view request);

std::string render_chat(const ChatConfig& config, std::string_view request);

}  // namespace glassformer
