#include "text/model_input.hpp"

#include <algorithm>

namespace glassformer {

ModelInput fill(std::span<const TemplatePart> parts, std::span<const Token> first,
                std::span<const Token> second) {
  using enum TemplatePart::Kind;
  ModelInput input;
  std::uint32_t end = 0;
  for (const TemplatePart& part : parts) {
    if (part.kind == special) {
      input.tokens.push_back({part.id, end, end});
    } else {
      const std::span<const Token> text = part.kind == first_text ? first : second;
      input.tokens.insert(input.tokens.end(), text.begin(), text.end());
      end = text.empty() ? 0 : text.back().end;
    }
    input.types.resize(input.tokens.size(), part.type);
    input.kinds.resize(input.tokens.size(), part.kind);
  }
  return input;
}

std::size_t special_tokens_of(std::span<const TemplatePart> parts) {
  return static_cast<std::size_t>(std::ranges::count_if(
      parts, [](const TemplatePart& part) { return part.kind == TemplatePart::Kind::special; }));
}

}  // namespace glassformer
