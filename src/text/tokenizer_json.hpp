#pragma once

#include <string_view>

#include "text/composed_tokenizer.hpp"

namespace glassformer {

/// Reads a tokenizer.json (huggingface/tokenizers). Truncation and padding are ignored. Throws
/// invalid_tokenizer, or unsupported for components that we do not have.
ComposedTokenizer::Parts parse_tokenizer_json(std::string_view file);

/// The double nearest to a number as JSON writes it. `text` is one.
double nearest_double(std::string_view text);

}  // namespace glassformer
