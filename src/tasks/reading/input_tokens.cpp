#include "tasks/reading/input_tokens.hpp"

#include <algorithm>

#include "base/strings/utf8.hpp"

namespace glassformer {

void leave_out_prefix(std::span<Token> tokens, std::string_view prefix) {
  const std::uint32_t before = utf16_size(prefix);
  for (Token& token : tokens) {
    token.start -= std::min(token.start, before);
    token.end -= std::min(token.end, before);
  }
}

std::vector<InputToken> input_tokens(std::span<const Token> tokens, const Tokenizer& tokenizer) {
  std::vector<InputToken> shown;
  shown.reserve(tokens.size());
  for (const Token& token : tokens) {
    shown.push_back({token.id, tokenizer.display_text(token.id), token.start, token.end});
  }
  return shown;
}

std::vector<InputToken> pair_tokens(const ModelInput& pair, const Tokenizer& tokenizer) {
  std::vector<InputToken> tokens = input_tokens(pair.tokens, tokenizer);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i].sequence = pair.kinds[i] == TemplatePart::Kind::second_text;
  }
  return tokens;
}

}  // namespace glassformer
