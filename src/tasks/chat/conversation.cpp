#include "tasks/chat/conversation.hpp"

#include <chrono>
#include <ctime>
#include <utility>

namespace glassformer {

jinja::DateTime local_time() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto fraction = std::chrono::duration_cast<std::chrono::microseconds>(
      now - std::chrono::system_clock::from_time_t(seconds));
  std::tm local = {};
  localtime_r(&seconds, &local);
  return {.year = local.tm_year + 1900,
          .month = local.tm_mon + 1,
          .day = local.tm_mday,
          .hour = local.tm_hour,
          .minute = local.tm_min,
          .second = local.tm_sec,
          .microsecond = static_cast<int>(fraction.count())};
}

Conversation::Conversation(const ChatConfig& config, const ChatOptions& options)
    : template_(config), options_({.variables = options.variables}) {
  check_chat_variables(options.variables);
  if (options.system) messages_.push_back({"system", *options.system});
}

std::string Conversation::prompt(std::string_view content) const {
  std::vector<ChatMessage> all = messages_;
  all.push_back({"user", std::string(content)});
  return template_.text(to_json(all), options_, local_time());
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
