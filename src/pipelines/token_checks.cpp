#include "pipelines/token_checks.hpp"

#include "error.hpp"

namespace glassformer {

std::vector<std::int32_t> ids_of(std::span<const std::string> pieces, std::string_view field,
                                 const Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  for (const std::string& piece : pieces) {
    const auto id = tokenizer.find(piece);
    if (!id) {
      throw_error(
          ErrorCode::invalid_config,
          {"config.json: {}: expected pieces of the tokenizer, got \"{}\"", {field, piece}});
    }
    ids.push_back(*id);
  }
  return ids;
}

void expect_vocabulary(const Tokenizer& tokenizer, std::string_view field, std::size_t vocab_size) {
  if (tokenizer.size() <= vocab_size) return;
  throw_error(ErrorCode::invalid_tokenizer,
              {"the tokenizer: expected at most {} = {} pieces, got {}",
               {field, vocab_size, tokenizer.size()}});
}

void expect_room(std::size_t max_length, std::size_t special_tokens) {
  if (special_tokens < max_length) return;
  throw_error(ErrorCode::invalid_config, {"config.json: max_source_length: expected room for a "
                                          "token beside {} prefix and suffix tokens, got {}",
                                          {special_tokens, max_length}});
}

}  // namespace glassformer
