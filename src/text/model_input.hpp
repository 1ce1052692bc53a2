#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/tokenizer.hpp"

namespace glassformer {

/// The input of a model: the tokens of one or two texts and the special tokens around them.
struct ModelInput {
  std::vector<Token> tokens;              ///< ranges refer to each token's own text
  std::vector<std::int32_t> types;        ///< token type ("segment") of each token
  std::vector<TemplatePart::Kind> kinds;  ///< origin of each token
};

/// Fills in a template with tokens: `single` of a TokenTemplate takes one text, `pair` two. A
/// special token gets an empty range at the end of the text before it.
ModelInput fill(std::span<const TemplatePart> parts, std::span<const Token> first,
                std::span<const Token> second = {});

/// Returns the number of special tokens that a template adds.
std::size_t special_tokens_of(std::span<const TemplatePart> parts);

}  // namespace glassformer
