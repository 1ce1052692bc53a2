#pragma once

#include <span>
#include <vector>

#include "glassformer/tokens.hpp"
#include "text/model_input.hpp"

namespace glassformer {

/// Tokens as a result shows them.
std::vector<InputToken> input_tokens(std::span<const Token> tokens, const Tokenizer& tokenizer);

/// The same of two texts: each token says which it is of.
std::vector<InputToken> pair_tokens(const ModelInput& pair, const Tokenizer& tokenizer);

}  // namespace glassformer
