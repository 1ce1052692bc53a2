#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/composed_tokenizer.hpp"

namespace glassformer {

/// What tokenizer_config.json changes in a tokenizer.json. What is not set stays as it is.
struct TokenizerJsonChanges {
  /// A component, as JSON, that replaces a normalizer of type BertNormalizer.
  std::optional<std::string> bert_normalizer = {};
  /// Components, as JSON, that replace whatever there is.
  std::optional<std::string> pre_tokenizer = {}, decoder = {};
  /// Fields of a pre-tokenizer of type ByteLevel and of a post-processor of type RobertaProcessing.
  std::optional<bool> add_prefix_space = {}, trim_offsets = {};
};

/// Reads a tokenizer.json (huggingface/tokenizers). Padding is ignored, and of truncation all but
/// its side. Throws invalid_tokenizer, or unsupported for components that we do not have.
ComposedTokenizer::Parts parse_tokenizer_json(std::string_view file,
                                              const TokenizerJsonChanges& changes = {});

/// The double nearest to a number as JSON writes it. `text` is one.
double nearest_double(std::string_view text);

}  // namespace glassformer
