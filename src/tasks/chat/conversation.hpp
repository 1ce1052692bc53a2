#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/chat.hpp"
#include "api/tasks/generate.hpp"
#include "families/config/model_config.hpp"

namespace glassformer {

/// The template of a folder, in the language Jinja. It makes one text of the messages of a chat.
class ChatTemplate {
 public:
  /// Throws `unsupported` if the folder has no template, or one that is not valid.
  explicit ChatTemplate(const ChatConfig& config);
  ChatTemplate(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  /// Returns the text of some messages. Throws `invalid_option` if there are none, if the template
  /// refuses them, or for variables that are not a JSON object.
  std::string text(std::span<const ChatMessage> messages, const ChatPromptOptions& options) const;

 private:
  struct Parsed;

  ChatConfig config_;
  std::unique_ptr<Parsed> parsed_;
};

/// The messages of a chat so far.
class Conversation {
 public:
  /// Throws `unsupported` as ChatTemplate does.
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
