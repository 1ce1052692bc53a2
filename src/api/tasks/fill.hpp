#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/tokens.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// Options of a MaskFiller's calls.
struct FillOptions {
  EncoderOptions encoder = {};
  std::size_t top_k = 5;  ///< number of tokens for each mask; at least 1
  /// Only these tokens are compared, and their scores sum to 1. Each must be one token. Empty: all
  /// tokens of the vocabulary.
  std::vector<std::string> targets = {};
};

template <class Visit>
void fields(Visit& visit, FillOptions& options) {
  fields(visit, options.encoder);
  visit("gradients", options.encoder.gradients, about_gradients);
  visit("gradient_token", options.encoder.gradient_token,
        {.help = "The position of the mask that gradients explain.", .absent = "the first mask"});
  visit("top_k", options.top_k, {.help = "The number of tokens for each mask.", .least = 1});
  visit("targets", options.targets,
        {.help = "Compare only these tokens; their scores sum to 1. Each must be one token.",
         .items = "texts of one token"});
}

/// A token that may stand at the place of a mask.
struct FilledToken {
  std::int32_t id;
  std::string token, text;
  float score;
  std::string sequence;

  bool operator==(const FilledToken&) const = default;
};

template <class Visit>
void fields(Visit& visit, const FilledToken& answer) {
  visit("id", answer.id, {.help = "Its number in the vocabulary."});
  visit("token", answer.token, {.help = "The token as the vocabulary spells it, such as ##ing."});
  visit("text", answer.text, {.help = "Its text."});
  visit("score", answer.score, {.help = "Its probability."});
  visit("sequence", answer.sequence,
        {.help = "The text as the model reads it, with this token; other masks stay."});
}

/// One mask of a text.
struct FilledMask {
  std::size_t index;
  std::uint32_t start, end;
  std::vector<FilledToken> answers;

  bool operator==(const FilledMask&) const = default;
};

template <class Visit>
void fields(Visit& visit, const FilledMask& mask) {
  visit("index", mask.index, {.help = "The position of its token."});
  visit("start", mask.start,
        {.help = "Where it begins in the text, in UTF-16 code units; in Python, in characters."});
  visit("end", mask.end, {.help = "Where it ends."});
  visit("answers", mask.answers, {.help = "The most probable tokens, the best first."});
}

/// The tokens for the masks of a text of T tokens.
struct FilledText {
  std::vector<FilledMask> masks;
  std::vector<InputToken> tokens;  ///< [T]
  bool clipped;
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
};

template <class Visit>
void fields(Visit& visit, FilledText& result) {
  visit("masks", result.masks,
        {.help = "The masks, in the order of the text. Each is filled on its own; the others stay "
                 "masked."});
  visit("tokens", result.tokens, about_tokens);
  visit("clipped", result.clipped, about_clipped);
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
  visit.gradients(std::move(result.gradients));
}

}  // namespace glassformer
