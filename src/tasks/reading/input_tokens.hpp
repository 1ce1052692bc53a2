#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "api/tokens.hpp"
#include "text/model_input.hpp"

namespace glassformer {

/// Turns offsets in `prefix` + text into offsets in the text. Tokens of the prefix get the empty
/// range at its start.
void leave_out_prefix(std::span<Token> tokens, std::string_view prefix);

/// Returns tokens in the form of a result, with their displayed text.
std::vector<InputToken> input_tokens(std::span<const Token> tokens, const Tokenizer& tokenizer);

/// Does the same for two texts. Each token has the number of its text.
std::vector<InputToken> pair_tokens(const ModelInput& pair, const Tokenizer& tokenizer);

}  // namespace glassformer
