#include <iostream>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"

namespace glassformer {

Exit run(const TokenizeCommand& command) {
  const Tokenizer tokenizer = load_tokenizer(command.model);
  std::string line;
  while (std::getline(std::cin, line)) {
    const char* separator = "";
    for (const Token& token : tokenizer.encode(line)) {
      std::cout << separator << token.id;
      separator = " ";
    }
    std::cout << '\n';
  }
  return Exit::ok;
}

}  // namespace glassformer
