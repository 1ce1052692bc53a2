#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result_field.hpp"

namespace glassformer {

/// A token that a model read: one row of its attention weights.
struct InputToken {
  std::int32_t id;
  std::string text;
  std::uint32_t start, end;
  std::optional<std::uint8_t> sequence = {};

  bool operator==(const InputToken&) const = default;
};

inline constexpr ResultField about_token_text = {
    .help =
        "The token as people read it, with a space in front if it starts a word, as in \" "
        "gripping\". Special tokens are shown by name, such as \"</s>\"; a byte that is not a "
        "whole character is shown as \"<0xE6>\"."};
inline constexpr ResultField about_logprob = {
    .help = "The natural logarithm of its probability after the tokens before it."};

template <class Visit>
void fields(Visit& visit, const InputToken& token) {
  visit("id", token.id, {.help = "Its number in the vocabulary."});
  visit("text", token.text, about_token_text);
  visit("start", token.start,
        {.help = "Where its text begins, in UTF-16 code units; in Python, in characters. Special "
                 "tokens have no text: start equals end."});
  visit("end", token.end, {.help = "Where its text ends."});
  visit(
      "sequence", token.sequence,
      {.help = "Of two texts: the one that the token and its place belong to, 0 or 1.", .most = 1});
}

/// A token that a model wrote. `start` and `end` are its position in the whole output. If several
/// tokens are the bytes of one character, the last one covers it and the others are empty.
struct OutputToken {
  std::int32_t id;
  std::string text;
  std::uint32_t start, end;
  float logprob;

  bool operator==(const OutputToken&) const = default;
};

template <class Visit>
void fields(Visit& visit, const OutputToken& token) {
  visit("id", token.id, {.help = "Its number in the vocabulary."});
  visit("text", token.text, about_token_text);
  visit("start", token.start, {.help = "Where its text begins in the whole output."});
  visit("end", token.end, {.help = "Where its text ends."});
  visit("logprob", token.logprob, about_logprob);
}

// What several results say of the same fields.
inline constexpr ResultField about_tokens = {
    .help = "The tokens that the model read, one per row of the attention weights."};
inline constexpr ResultField about_clipped = {
    .help =
        "Whether a part of the text was left out because it is longer than the model's limit: its "
        "end or its middle, as the model's files say. The tokens are those of the part that was "
        "read."};
inline constexpr ResultField about_windows = {
    .help = "The number of windows in which the text was read."};

}  // namespace glassformer
