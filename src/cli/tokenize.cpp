#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/model_folder.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 1024;

}  // namespace

Exit run(const TokenizeCommand& command) {
  const Tokenizer tokenizer = load_tokenizer(command.model);
  for (auto lines = read_lines(lines_at_once); !lines.empty(); lines = read_lines(lines_at_once)) {
    for (const std::string& line : lines) {
      const char* separator = "";
      for (const Token& token : tokenizer.encode(line)) {
        std::cout << separator << token.id;
        separator = " ";
      }
      std::cout << '\n';
    }
    std::cout.flush();
  }
  return Exit::ok;
}

}  // namespace glassformer
