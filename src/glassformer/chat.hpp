#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/chat.hpp"
#include "glassformer/generator.hpp"

namespace glassformer {

class Conversation;

/// Returns the text that the model's template (`chat_template` in tokenizer_config.json, or
/// chat_template.jinja) makes of a chat. Give it to Generator::generate with `special_tokens`
/// false, as the template writes the special tokens. Throws `unsupported` if the model has no
/// template or an invalid one, and `invalid_option` for messages that the template refuses.
std::string chat_prompt(const Generator& generator, std::span<const ChatMessage> messages,
                        const ChatPromptOptions& options = {});
/// The same for a JSON array of messages, which may have any fields: {"role", "content", …}.
std::string chat_prompt(const Generator& generator, std::string_view messages,
                        const ChatPromptOptions& options = {});

/// A chat with a model that was trained for it. A turn reads only what is new since the one before,
/// as `reused` of its result tells; one with a trace, patches, ablated heads or beams reads all
/// messages. If the messages are longer than the model reads, their beginning is left out, and
/// `clipped` of the result is true. For one thread; the generator must outlive it.
class Chat {
 public:
  /// Throws `unsupported` if the model has no template, and `invalid_option` for variables that are
  /// not a JSON object.
  explicit Chat(Generator& generator, const ChatOptions& options = {});
  Chat(Chat&&) noexcept;
  ~Chat();

  /// Says something; `output.text` of the result is the model's answer. `special_tokens`, `prefix`
  /// and `keep` of the options have no effect. Throws as Generator::generate does, and
  /// `invalid_option` if the template refuses the message. A turn that throws changes nothing.
  Generation send(std::string_view content, const GenerateOptions& options = {});
  /// The same; calls `on_step` for each token as Generator::stream does.
  Generation stream(std::string_view content, const std::function<void(GenerationStep)>& on_step,
                    const GenerateOptions& options = {});

  /// The messages so far. A turn adds two.
  const std::vector<ChatMessage>& messages() const;

 private:
  friend std::string chat_prompt(const Generator& generator, std::string_view messages,
                                 const ChatPromptOptions& options);

  static const ChatConfig& chat(const Generator& generator);

  Generator& generator_;
  std::unique_ptr<Conversation> conversation_;
};

}  // namespace glassformer
