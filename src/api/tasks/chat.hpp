#pragma once

#include <optional>
#include <string>

namespace glassformer {

/// A message of a chat.
struct ChatMessage {
  std::string role;  ///< who wrote it: usually "system", "user" or "assistant"
  std::string content;
};

/// How chat_prompt makes a text of messages.
struct ChatPromptOptions {
  /// End the text with the beginning of the model's own message.
  bool add_generation_prompt = true;
  /// More variables for the template: a JSON object, such as {"enable_thinking": false}.
  std::string variables = "{}";
};

/// Options of a Chat.
struct ChatOptions {
  std::optional<std::string> system = {};  ///< the first message: instructions for the model
  std::string variables = "{}";            ///< as in ChatPromptOptions
};

}  // namespace glassformer
