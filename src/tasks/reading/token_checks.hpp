#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// The ids of the pieces that a field of config.json names. Throws `invalid_config` if one is not
/// a piece of the tokenizer.
std::vector<std::int32_t> ids_of(std::span<const std::string> pieces, std::string_view field,
                                 const Tokenizer& tokenizer);

/// Throws `invalid_tokenizer` if the tokenizer of a model of ours has more pieces than `field` of
/// config.json says. The tokenizer of a published checkpoint may have more: tokens that were added
/// later, and that no text needs.
void expect_vocabulary(const ModelConfig& config, const Tokenizer& tokenizer,
                       std::string_view field, std::size_t vocab_size);

/// Throws `invalid_tokenizer`, with the token's name, for the first token whose id has no row in
/// the model's embedding table of `rows` rows. Everything that a model reads passes through here.
void expect_rows(std::span<const Token> tokens, const Tokenizer& tokenizer, std::size_t rows);

/// The same for the special tokens that every text gets, which must be tokens of the tokenizer too.
void expect_rows(std::span<const TemplatePart> parts, const Tokenizer& tokenizer, std::size_t rows);

/// Throws `invalid_tokenizer` or `invalid_config` if the special tokens of the model's texts do not
/// fit its tables. `target`: the tokenizer of what is written, if it is another one, or null.
void check_special_tokens(const ModelConfig& config, const Tokenizer& tokenizer,
                          const Tokenizer* target);

/// Throws `invalid_config` unless a sequence of `max_length` tokens has room beside its special
/// ones.
void expect_room(std::size_t max_length, std::size_t special_tokens);

}  // namespace glassformer
