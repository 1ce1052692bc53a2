#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/model_folder.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 1024;

/// A text's tokens, with those that the model expects around them if `special`.
std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text,
                                 bool special) {
  static const TokenTemplate plain;
  std::vector<std::int32_t> ids;
  for (const TemplatePart& part : (special ? tokenizer.around() : plain).single) {
    if (part.kind == TemplatePart::Kind::special) {
      ids.push_back(part.id);
    } else {
      for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
    }
  }
  return ids;
}

}  // namespace

Exit run(const TokenizeCommand& command) {
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(command.model);
  for (auto lines = read_lines(lines_at_once); !lines.empty(); lines = read_lines(lines_at_once)) {
    for (const std::string& line : lines) {
      const char* separator = "";
      for (const std::int32_t id : ids_of(*tokenizer, line, command.special)) {
        std::cout << separator << id;
        separator = " ";
      }
      std::cout << '\n';
    }
    std::cout.flush();
  }
  return Exit::ok;
}

}  // namespace glassformer
