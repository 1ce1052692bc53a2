#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/tokens.hpp"
#include "base/option.hpp"

namespace glassformer {

/// Options of TextTokenizer::encode.
struct EncodeOptions {
  /// Adds the tokens that the model expects around its texts, such as [CLS] and [SEP].
  bool special_tokens = true;
  /// The maximum number of tokens, special ones included. Of two texts, the longer one loses its
  /// last token until both fit; a text loses its first tokens if the tokenizer's files say so.
  /// Default: no limit.
  std::optional<std::size_t> max_length = {};
  /// For a tokenizer of many languages: that of the text, one of TextTokenizer::languages. Empty:
  /// the one that the files name.
  std::string language = {};
};

template <class Visit>
void fields(Visit& visit, EncodeOptions& options) {
  visit(
      "special_tokens", options.special_tokens,
      {.help = "Add the tokens that the model expects around its texts, such as [CLS] and [SEP]."});
  visit("max_length", options.max_length,
        {.help = "The maximum number of tokens, special ones included. Of two texts, the longer "
                 "one loses its last token until both fit; a text loses its first tokens if the "
                 "tokenizer's files say so.",
         .absent = "no limit"});
  visit("language", options.language,
        {.help = "For a tokenizer of many languages: that of the text.",
         .absent = "as the tokenizer's files say"});
}

/// A text, or two, as T tokens.
struct EncodedText {
  std::vector<std::int32_t> ids;   ///< [T]
  std::vector<InputToken> tokens;  ///< [T]
  bool clipped;
};

template <class Visit>
void fields(Visit& visit, EncodedText& result) {
  visit("ids", result.ids, {.help = "The tokens' numbers in the vocabulary."});
  visit("tokens", result.tokens, {.help = "The same tokens, with their text and place."});
  visit("clipped", result.clipped, {.help = "Whether tokens over `max_length` were left out."});
}

/// Options of TextTokenizer::decode.
struct DecodeOptions {
  bool special_tokens = false;  ///< keeps the names of special tokens, such as "</s>"
};

}  // namespace glassformer
