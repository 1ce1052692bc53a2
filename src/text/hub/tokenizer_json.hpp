#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/composed/composed_tokenizer.hpp"

namespace glassformer {

/// Changes that tokenizer_config.json makes to a tokenizer.json. Unset members change nothing.
struct TokenizerJsonChanges {
  /// A component, as JSON, that replaces a normalizer of type BertNormalizer.
  std::optional<std::string> bert_normalizer = {};
  /// Components, as JSON, that replace any existing ones.
  std::optional<std::string> pre_tokenizer = {}, decoder = {};
  /// Fields of a pre-tokenizer of type ByteLevel and of a post-processor of type RobertaProcessing.
  std::optional<bool> add_prefix_space = {}, trim_offsets = {};
};

/// Reads a tokenizer.json (huggingface/tokenizers). Ignores padding, and truncation except its
/// side. Throws invalid_tokenizer, or unsupported for unsupported components.
ComposedTokenizer::Parts parse_tokenizer_json(std::string_view file,
                                              const TokenizerJsonChanges& changes = {});

}  // namespace glassformer
