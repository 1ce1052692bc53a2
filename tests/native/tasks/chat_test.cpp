// The texts that templates make of chats, compared with the original library's
// (tests/fixtures/checkpoints/chats.json), and turns.

#include "glassformer/chat.hpp"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/error_of.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Json = nlohmann::ordered_json;

const std::filesystem::path published = GLASSFORMER_SOURCE_DIR "/tests/fixtures/checkpoints";

Json read(const std::filesystem::path& file) { return Json::parse(std::ifstream(file)); }
Json chats() { return read(published / "chats.json"); }

// A copy of a checkpoint.
class ChattyFolder {
 public:
  explicit ChattyFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("glassformer-chat-" + std::to_string(getpid()))) {
    std::filesystem::copy(published / name, path_);
  }
  // With a template.
  ChattyFolder(const std::string& name, const std::string& text) : ChattyFolder(name) {
    std::ofstream(path_ / "chat_template.jinja") << text;
  }
  // Changed as tests/fixtures/checkpoints/chat_folders.py says.
  explicit ChattyFolder(const Json& changes)
      : ChattyFolder(changes.at("folder").get<std::string>()) {
    for (const auto& [name, text] : changes.at("files").items()) {
      std::filesystem::create_directories((path_ / name).parent_path());
      if (text.is_null()) {
        std::filesystem::remove(path_ / name);
      } else {
        std::ofstream(path_ / name) << text.get<std::string>();
      }
    }
    const std::filesystem::path file = path_ / "tokenizer_config.json";
    Json settings = read(file);
    for (const auto& [name, value] : changes.at("settings").items()) {
      value == "removed" ? void(settings.erase(name)) : void(settings[name] = value);
    }
    std::ofstream(file) << settings;
  }
  ChattyFolder(const ChattyFolder&) = delete;
  ChattyFolder& operator=(const ChattyFolder&) = delete;
  ~ChattyFolder() { std::filesystem::remove_all(path_); }

  Generator load() const { return Generator::load(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The template of which a user and an assistant take turns.
std::string in_turn() { return chats()[4].at("template"); }

std::vector<ChatMessage> messages_of(const Json& given) {
  std::vector<ChatMessage> messages;
  for (const Json& each : given) messages.push_back({each.at("role"), each.at("content")});
  return messages;
}

GenerateOptions short_answer() {
  GenerateOptions options;
  options.max_new_tokens = 3;
  return options;
}

TEST_CASE("templates make the library's texts of chats", "[chat]") {
  for (Json chat : chats()) {
    const Generator generator = ChattyFolder(chat.at("folder"), chat.at("template")).load();
    Json variables = chat.at("options");
    ChatPromptOptions options;
    options.add_generation_prompt = variables.value("add_generation_prompt", true);
    variables.erase("add_generation_prompt");
    options.variables = variables.dump();
    const auto prompt = [&] {
      return chat_prompt(generator, messages_of(chat.at("messages")), options);
    };
    if (chat.contains("error")) {
      const Error error = error_of(prompt);
      CHECK(error.code() == ErrorCode::invalid_option);
      CHECK_THAT(error.what(), StartsWith("chat_template: line "));
      CHECK_THAT(error.what(), EndsWith(": " + chat.at("error").get<std::string>()));
    } else {
      CHECK(prompt() == chat.at("text").get<std::string>());
    }
  }
}

TEST_CASE("templates and their tokens are those of the library in any folder", "[chat]") {
  for (const Json& each : read(published / "chat_folders.json")) {
    INFO(each.dump());
    const Generator generator = ChattyFolder(each).load();
    Json variables = each.at("options");
    ChatPromptOptions options;
    const auto take = [&](const char* name, const auto& use) {
      if (variables.contains(name)) use(variables[name]);
      variables.erase(name);
    };
    take("add_generation_prompt",
         [&](const Json& value) { options.add_generation_prompt = value; });
    take("chat_template", [&](const Json& value) { options.chat_template = value; });
    take("continue_final_message", [&](const Json& value) {
      options.continue_final_message = value.is_string()   ? value.get<std::string>()
                                       : value.get<bool>() ? "content"
                                                           : "";
    });
    options.variables = variables.dump();
    const auto prompt = [&] { return chat_prompt(generator, each.at("messages").dump(), options); };
    if (each.contains("error")) {
      CHECK(error_of(prompt).code() == ErrorCode::invalid_option);
    } else {
      CHECK(prompt() == each.at("text").get<std::string>());
    }
  }
}

TEST_CASE("messages have further fields", "[chat]") {
  const Generator generator =
      ChattyFolder("llama_scaled", "{{ messages[0].content }} {{ messages[0].name }}").load();
  const auto text_of = [&](const std::string& fields) {
    return chat_prompt(generator, std::vector<ChatMessage>{{"user", "a", fields}});
  };
  CHECK(text_of(R"({"name": "b"})") == "a b");
  CHECK(text_of(R"({"content": null})") == "None ");
  for (const char* wrong : {"[]", "{", R"({"role": "user"})"}) {
    CHECK_THAT(error_of([&] { text_of(wrong); }).what(), ContainsSubstring("messages"));
  }
}

TEST_CASE("text before the end of a loop stays, and templates may ask for the date", "[chat]") {
  const std::vector<ChatMessage> two = {{"user", "a"}, {"assistant", "b"}};
  const auto text_of = [&](const std::string& form) {
    return chat_prompt(ChattyFolder("llama_scaled", form).load(), two);
  };
  CHECK(text_of("{% for m in messages %}{{ m.content }}{% break %}{% endfor %}!") == "a!");
  CHECK(text_of("{{ strftime_now('%Y') | length }}") == "4");
}

TEST_CASE("a chat grows by two messages per turn and reads only what is new", "[chat]") {
  Generator generator = ChattyFolder("llama_scaled", in_turn()).load();
  Chat chat(generator);
  const Generation first = chat.send("The film", short_answer());
  CHECK(first.reused == 0);
  REQUIRE(chat.messages().size() == 2);
  CHECK(chat.messages()[0].content == "The film");
  CHECK(chat.messages()[1].content == first.output.text);

  std::vector<ChatMessage> all = chat.messages();
  all.push_back({"user", "good"});
  GenerateOptions options = short_answer();
  options.special_tokens = false;
  const Generation expected = generator.generate(chat_prompt(generator, all), options);
  std::string streamed;
  const Generation second = chat.stream(
      "good", [&](GenerationStep step) { streamed = step.text; }, short_answer());
  CHECK(second.output.tokens == expected.output.tokens);
  CHECK(streamed == second.output.text);
  CHECK(*second.reused + 4 >= first.prompt_tokens.size());
  CHECK(chat.messages().size() == 4);
}

TEST_CASE("a turn that throws changes nothing", "[chat]") {
  Generator generator = ChattyFolder("llama_scaled", in_turn()).load();
  Chat chat(generator);
  GenerateOptions options = short_answer();
  options.ablate = {{99, 0, AttentionSite::decoder}};
  CHECK(error_of([&] { chat.send("a", options); }).code() == ErrorCode::invalid_option);
  const auto stop = [](const GenerationStep&) { throw Error(ErrorCode::internal, "enough"); };
  const auto turn = [&] { chat.stream("a", stop, short_answer()); };
  CHECK(error_of(turn).code() == ErrorCode::internal);
  CHECK(chat.messages().empty());
  chat.send("a", short_answer());
  CHECK(chat.messages().size() == 2);
}

TEST_CASE("models without a template, and wrong messages, are refused", "[chat]") {
  Generator plain = Generator::load(published / "llama_scaled");
  CHECK(error_of([&] { Chat chat(plain); }).code() == ErrorCode::unsupported);
  Generator broken = ChattyFolder("llama_scaled", "{% if %}").load();
  const Error error = error_of([&] { Chat chat(broken); });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK_THAT(error.what(), ContainsSubstring("chat_template: line 1: "));

  Generator generator = ChattyFolder("llama_scaled", in_turn()).load();
  CHECK(error_of([&] { chat_prompt(generator, "[]"); }).code() == ErrorCode::invalid_option);
  for (const char* variables : {"[]", "{", ""}) {
    const auto make = [&] { Chat chat(generator, {.variables = variables}); };
    CHECK_THAT(error_of(make).what(), StartsWith("variables: "));
  }
  Chat chat(generator, {.system = "a"});
  CHECK_THAT(error_of([&] { chat.send("b"); }).what(),
             ContainsSubstring("Roles must alternate: system"));
}

}  // namespace
}  // namespace glassformer::test
