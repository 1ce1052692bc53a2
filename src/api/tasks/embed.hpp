#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/tokens.hpp"
#include "families/config/token_pooling.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// Options of an Embedder's calls.
struct EmbedOptions {
  EncoderOptions encoder = {};
  std::vector<TokenPooling> poolings = {};  ///< concatenated; empty: as the model says
  std::optional<bool> normalize = {};       ///< to length 1; default: as the model says
  /// A text that is put before each text, or the name of such a text in the folder. At most one may
  /// be set. Default: the folder's default prompt, if it has one.
  std::optional<std::string> prompt = {}, prompt_name = {};
};

template <class Visit>
void fields(Visit& visit, EmbedOptions& options) {
  fields(visit, options.encoder);
  visit(
      "pooling", options.poolings,
      {.help = "How the vectors of the tokens become one. The vectors of several are concatenated.",
       .absent = "as the model's files say"});
  visit("normalize", options.normalize,
        {.help = "Scale the vector to length 1.", .absent = "as the model's files say"});
  visit(
      "prompt", options.prompt,
      {.help = "A text to put before each text. Offsets of tokens refer to the text without it."});
  visit("prompt_name", options.prompt_name,
        {.help = "The name of one of the folder's prompts, such as query.",
         .absent = "the folder's default prompt, if it has one"});
}

/// The vector of a text of T tokens.
struct Embedded {
  std::vector<float> embedding;
  std::vector<InputToken> tokens;  ///< [T]
  bool clipped;
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
};

template <class Visit>
void fields(Visit& visit, Embedded& result) {
  visit.vector("embedding", std::move(result.embedding),
               {.help = "[poolings · d_model], or as wide as the model's last module."});
  visit("tokens", result.tokens, about_tokens);
  visit("clipped", result.clipped, about_clipped);
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
}

}  // namespace glassformer
