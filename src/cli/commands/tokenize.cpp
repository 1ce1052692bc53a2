#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "tasks/load.hpp"
#include "text/model_input.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 1024;

/// Returns a text's token ids, with the model's special tokens around them if `special`.
std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text,
                                 bool special) {
  static const TokenTemplate plain;
  const TokenTemplate& around = special ? tokenizer.around() : plain;
  std::vector<std::int32_t> ids;
  for (const Token& token : fill(around.single, tokenizer.encode(text)).tokens) {
    ids.push_back(token.id);
  }
  return ids;
}

class TokenizeCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL_DIR", model_, "model folder; the tokenizer's files are enough")
        ->required();
    app.add_flag("--special", special_, "with the tokens that the model expects around");
  }
  Exit run() override;

 private:
  std::filesystem::path model_;
  bool special_ = false;
};

Exit TokenizeCommand::run() {
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(model_);
  Exit exit = Exit::ok;
  std::size_t number = 0;
  const auto ids = [&](const std::string& line) -> std::vector<std::int32_t> {
    try {
      ++number;
      expect_utf8(line);
      return ids_of(*tokenizer, line, special_);
    } catch (const Error& error) {
      std::cerr << "glassformer: line " << number << ": " << error.what() << '\n';
      exit = Exit::bad_input;
      return {};
    }
  };
  for (auto lines = read_lines(lines_at_once); !lines.empty(); lines = read_lines(lines_at_once)) {
    for (const std::string& line : lines) {
      const char* separator = "";
      for (const std::int32_t id : ids(line)) {
        std::cout << separator << id;
        separator = " ";
      }
      std::cout << '\n';
    }
    std::cout.flush();
  }
  return exit;
}

}  // namespace

std::unique_ptr<Command> make_tokenize_command() { return std::make_unique<TokenizeCommand>(); }

}  // namespace glassformer
