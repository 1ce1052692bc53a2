#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/tokenizer.hpp"

namespace glassformer {

/// What a model reads: the tokens of one text, or of two, and the special tokens around them.
struct ModelInput {
  std::vector<Token> tokens;              ///< each one's range is in its own text
  std::vector<std::int32_t> types;        ///< token type ("segment") of each
  std::vector<TemplatePart::Kind> kinds;  ///< where each one is from
};

/// Fills the places of a template: `single` of a TokenTemplate with one text, `pair` with two. A
/// special token covers nothing, at the end of the text that it follows.
ModelInput fill(std::span<const TemplatePart> parts, std::span<const Token> first,
                std::span<const Token> second = {});

/// How many special tokens a template adds.
std::size_t special_tokens_of(std::span<const TemplatePart> parts);

}  // namespace glassformer
