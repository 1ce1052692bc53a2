#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Returns the ids of the pieces that a field of config.json names. Throws `invalid_config` if one
/// is not a piece of the tokenizer.
std::vector<std::int32_t> ids_of(std::span<const std::string> pieces, std::string_view field,
                                 const Tokenizer& tokenizer);

/// Throws `invalid_tokenizer` if the tokenizer of one of our own models has more pieces than
/// `field` of config.json says. The tokenizer of a published checkpoint may have more: tokens that
/// were added later and that no text needs.
void expect_vocabulary(const ModelConfig& config, const Tokenizer& tokenizer,
                       std::string_view field, std::size_t vocab_size);

/// Throws `invalid_tokenizer`, naming the token, if the id of a token has no row in the model's
/// embedding table of `rows` rows. Everything that a model reads is checked here.
void expect_rows(std::span<const Token> tokens, const Tokenizer& tokenizer, std::size_t rows);

/// Does the same for the special tokens of a template, which must also be tokens of the tokenizer.
void expect_rows(std::span<const TemplatePart> parts, const Tokenizer& tokenizer, std::size_t rows);

/// Throws `invalid_tokenizer` or `invalid_config` if the special tokens of the model's texts do not
/// fit its tables. `target`: the tokenizer of the output, or null if it is the same one.
void check_special_tokens(const ModelConfig& config, const Tokenizer& tokenizer,
                          const Tokenizer* target);

/// Throws `invalid_config` unless `max_length` is greater than the number of special tokens.
void expect_room(std::size_t max_length, std::size_t special_tokens);

}  // namespace glassformer
