#pragma once

#include <optional>
#include <string>

#include "base/option.hpp"

namespace glassformer {

/// A message of a chat.
struct ChatMessage {
  std::string role;  ///< who wrote it: usually "system", "user", "assistant" or "tool"
  std::string content;
  /// Further fields as a JSON object, such as {"tool_calls": […]}. A field `content` in it, such as
  /// null or a list of parts, replaces the text above.
  std::string fields = "{}";
};

/// How chat_prompt makes a text of messages.
struct ChatPromptOptions {
  /// End the text with the beginning of the model's own message. Default: true, unless a message
  /// is continued.
  std::optional<bool> add_generation_prompt = {};
  /// The field of the last message, usually "content", that the model continues: the text ends
  /// with it. Empty: the last message is complete.
  std::string continue_final_message = {};
  /// The template, if the folder has several. Default: "tool_use" if the variable `tools` is set
  /// and there is such a template, otherwise "default".
  std::optional<std::string> chat_template = {};
  /// More variables for the template: a JSON object, such as {"enable_thinking": false} or
  /// {"tools": […]}.
  std::string variables = "{}";
};

/// Options of a Chat.
struct ChatOptions {
  std::optional<std::string> system = {};
  std::string variables = "{}";
};

template <class Visit>
void fields(Visit& visit, ChatOptions& options) {
  visit("system", options.system, {.help = "The first message: instructions for the model."});
  visit("variables", options.variables,
        {.help = "More variables for the model's template: a JSON object, such as "
                 R"({"enable_thinking": false}.)"});
}

}  // namespace glassformer
