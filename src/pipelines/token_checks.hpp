#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace glassformer {

/// The ids of the pieces that a field of config.json names. Throws `invalid_config` if one is not
/// a piece of the tokenizer.
std::vector<std::int32_t> ids_of(std::span<const std::string> pieces, std::string_view field,
                                 const Tokenizer& tokenizer);

/// Throws `invalid_tokenizer` if the tokenizer has more pieces than `field` of config.json says.
void expect_vocabulary(const Tokenizer& tokenizer, std::string_view field, std::size_t vocab_size);

/// Throws `invalid_config` unless a sequence of `max_length` tokens has room beside its special
/// ones.
void expect_room(std::size_t max_length, std::size_t special_tokens);

}  // namespace glassformer
