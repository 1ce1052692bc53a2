#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/chat.hpp"
#include "api/tasks/generate.hpp"
#include "tasks/chat/chat_template.hpp"

namespace glassformer {

/// Returns the local time.
jinja::DateTime local_time();

/// The messages of a chat so far.
class Conversation {
 public:
  /// Throws `unsupported` as ChatTemplate does, and `invalid_option` for wrong variables.
  Conversation(const ChatConfig& config, const ChatOptions& options);

  /// Returns the prompt that asks for the answer to a message. Throws as ChatTemplate::text does.
  std::string prompt(std::string_view content) const;
  /// Adds a message and its answer.
  void add(std::string_view content, std::string answer);
  const std::vector<ChatMessage>& messages() const { return messages_; }

 private:
  ChatTemplate template_;
  ChatPromptOptions options_;
  std::vector<ChatMessage> messages_;
};

/// Returns the options of a turn: the template writes the special tokens, and what was computed for
/// the turns before is used again.
GenerateOptions turn_options(const GenerateOptions& options);

}  // namespace glassformer
