#include "glassformer/chat.hpp"

#include "tasks/chat/conversation.hpp"
#include "tasks/generate/generate.hpp"

namespace glassformer {

std::string chat_prompt(const Generator& generator, std::span<const ChatMessage> messages,
                        const ChatPromptOptions& options) {
  return chat_prompt(generator, to_json(messages), options);
}

std::string chat_prompt(const Generator& generator, std::string_view messages,
                        const ChatPromptOptions& options) {
  return ChatTemplate(Chat::chat(generator)).text(messages, options, local_time());
}

Chat::Chat(Generator& generator, const ChatOptions& options)
    : generator_(generator),
      conversation_(std::make_unique<Conversation>(chat(generator), options)) {}

const ChatConfig& Chat::chat(const Generator& generator) { return generator.chat(); }

Chat::Chat(Chat&&) noexcept = default;
Chat::~Chat() = default;

Generation Chat::send(std::string_view content, const GenerateOptions& options) {
  Generation answer = generator_.generate(conversation_->prompt(content), turn_options(options));
  conversation_->add(content, answer.output.text);
  return answer;
}

Generation Chat::stream(std::string_view content,
                        const std::function<void(GenerationStep)>& on_step,
                        const GenerateOptions& options) {
  Generation answer =
      generator_.stream(conversation_->prompt(content), on_step, turn_options(options));
  conversation_->add(content, answer.output.text);
  return answer;
}

const std::vector<ChatMessage>& Chat::messages() const { return conversation_->messages(); }

}  // namespace glassformer
