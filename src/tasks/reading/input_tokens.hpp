#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "glassformer/tokens.hpp"
#include "text/model_input.hpp"

namespace glassformer {

/// Makes ranges in `prefix` and the text behind it ranges in the text alone; those of the prefix
/// are empty.
void leave_out_prefix(std::span<Token> tokens, std::string_view prefix);

/// Tokens as a result shows them.
std::vector<InputToken> input_tokens(std::span<const Token> tokens, const Tokenizer& tokenizer);

/// The same of two texts: each token says which it is of.
std::vector<InputToken> pair_tokens(const ModelInput& pair, const Tokenizer& tokenizer);

}  // namespace glassformer
