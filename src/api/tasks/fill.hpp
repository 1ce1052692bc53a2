#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
  std::string token;     ///< as written in the vocabulary
  std::string text;      ///< its decoded text
  float score;           ///< its probability, from 0 to 1
  std::string sequence;  ///< the decoded text with this token; other masks stay

  bool operator==(const FilledToken&) const = default;
};

/// One mask of a text.
struct FilledMask {
  std::size_t index;                 ///< position of its token
  std::uint32_t start, end;          ///< position in the text, in UTF-16 code units
  std::vector<FilledToken> answers;  ///< the most probable first

  bool operator==(const FilledMask&) const = default;
};

/// The tokens for the masks of a text of T tokens. Each mask is filled on its own, while the others
/// stay masked.
struct FilledText {
  std::vector<FilledMask> masks;          ///< in the order of the text
  std::vector<InputToken> tokens;         ///< [T] the tokens that the model read
  bool clipped;                           ///< whether the text was longer than what it read
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
};

}  // namespace glassformer
