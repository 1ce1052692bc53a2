#include "pipelines/special_tokens.hpp"

#include "error.hpp"

namespace glassformer {

std::vector<std::int32_t> ids_of(std::span<const std::string> pieces, std::string_view field,
                                 const Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  for (const std::string& piece : pieces) {
    const auto id = tokenizer.find(piece);
    if (!id) {
      throw Error(ErrorCode::invalid_config, "config.json: " + std::string(field) +
                                                 ": expected pieces of the tokenizer, got \"" +
                                                 piece + "\"");
    }
    ids.push_back(*id);
  }
  return ids;
}

void expect_vocabulary(const Tokenizer& tokenizer, std::string_view field, std::size_t vocab_size) {
  if (tokenizer.size() <= vocab_size) return;
  throw Error(ErrorCode::invalid_tokenizer,
              "tokenizer.model: expected at most " + std::string(field) + " = " +
                  std::to_string(vocab_size) + " pieces, got " + std::to_string(tokenizer.size()));
}

void expect_room(std::size_t max_length, std::size_t special_tokens) {
  if (special_tokens < max_length) return;
  throw Error(ErrorCode::invalid_config,
              "config.json: max_source_length: expected room for a token beside " +
                  std::to_string(special_tokens) + " prefix and suffix tokens, got " +
                  std::to_string(max_length));
}

}  // namespace glassformer
