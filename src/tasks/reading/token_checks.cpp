#include "tasks/reading/token_checks.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "tasks/reading/input_reader.hpp"

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

void expect_vocabulary(const ModelConfig& config, const Tokenizer& tokenizer,
                       std::string_view field, std::size_t vocab_size) {
  if (config.tokenizer_template || tokenizer.size() <= vocab_size) return;
  throw_error(ErrorCode::invalid_tokenizer,
              {"the tokenizer: expected at most {} = {} pieces, got {}",
               {field, vocab_size, tokenizer.size()}});
}

namespace {

[[noreturn]] void refuse_row(std::int32_t id, const Tokenizer& tokenizer, std::size_t rows) {
  throw_error(ErrorCode::invalid_tokenizer,
              {"token \"{}\" has id {}, but the embedding table has {} rows",
               {tokenizer.piece(id).substr(0, 60), id, rows}});
}

// A config.json may name any piece as the start or end token of a translation.
void expect_row(std::string_view field, const std::string& piece, const Tokenizer& tokenizer,
                std::size_t rows) {
  const std::int32_t id = ids_of(std::span(&piece, 1), field, tokenizer)[0];
  if (static_cast<std::size_t>(id) >= rows) refuse_row(id, tokenizer, rows);
}

}  // namespace

void expect_rows(std::span<const Token> tokens, const Tokenizer& tokenizer, std::size_t rows) {
  const auto beyond = std::ranges::find_if(
      tokens, [&](const Token& token) { return static_cast<std::size_t>(token.id) >= rows; });
  if (beyond != tokens.end()) refuse_row(beyond->id, tokenizer, rows);
}

void expect_rows(std::span<const TemplatePart> parts, const Tokenizer& tokenizer,
                 std::size_t rows) {
  for (const TemplatePart& part : parts) {
    if (part.kind != TemplatePart::Kind::special) continue;
    if (static_cast<std::size_t>(part.id) >= tokenizer.size()) {
      throw_error(ErrorCode::invalid_tokenizer,
                  {"the tokenizer's template: expected ids below {}, got {}",
                   {std::min(tokenizer.size(), rows), part.id}});
    }
    if (static_cast<std::size_t>(part.id) >= rows) refuse_row(part.id, tokenizer, rows);
  }
}

void check_special_tokens(const ModelConfig& config, const Tokenizer& tokenizer,
                          const Tokenizer* target) {
  const TokenTemplate around = template_of(config, tokenizer);
  const std::size_t rows = config.reader().vocab_size();
  expect_rows(around.single, tokenizer, rows);
  expect_rows(around.pair, tokenizer, rows);
  if (config.task != Task::translation) return;
  const Tokenizer& written = target ? *target : tokenizer;
  const std::size_t written_rows = config.decoder().vocab_size();
  expect_row("start_token", config.start_token, written, written_rows);
  expect_row("end_token", config.end_token, written, written_rows);
}

void expect_room(std::size_t max_length, std::size_t special_tokens) {
  if (special_tokens < max_length) return;
  throw_error(ErrorCode::invalid_config, {"config.json: max_source_length: expected more than "
                                          "the {} prefix and suffix tokens, got {}",
                                          {special_tokens, max_length}});
}

}  // namespace glassformer
