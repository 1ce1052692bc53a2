#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/tokens.hpp"
#include "base/fields.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// How token labels are combined into entities.
enum class Aggregation : std::uint8_t {
  none,     ///< one entity per token
  simple,   ///< adjacent tokens with the same tag
  first,    ///< words with the same tag; a word has the label of its first token
  average,  ///< words; the most probable label by the mean of its tokens' probabilities
  max,      ///< words; the label of the token whose best label is the most probable
};

template <>
inline constexpr std::array enum_names<Aggregation>{"none", "simple", "first", "average", "max"};

/// How a TokenClassifier reads a text that has more tokens than the model takes at once.
enum class TokenClassifyWindow : std::uint8_t {
  all,    ///< all of it, in windows; if entities overlap, keeps the longer or more probable
  first,  ///< truncates it, as the model's configuration says, and reads one window
};

template <>
inline constexpr std::array enum_names<TokenClassifyWindow>{"all", "first"};

/// Options of a TokenClassifier's calls.
struct TokenClassifyOptions {
  EncoderOptions encoder = {};
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};  ///< labels that are not entities
  TokenClassifyWindow window = TokenClassifyWindow::all;
  /// How many tokens of a window are read again in the next one; fewer than a window has. Default:
  /// `usual_stride`.
  std::optional<std::size_t> stride = {};
};

template <class Visit>
void fields(Visit& visit, TokenClassifyOptions& options) {
  fields(visit, options.encoder);
  visit("gradients", options.encoder.gradients, about_gradients);
  visit("gradient_token", options.encoder.gradient_token,
        {.help = "The position of the token whose label gradients explain.",
         .absent = "the first token that is not special"});
  visit("aggregation", options.aggregation,
        {.help = "How tokens become entities. none: each token is one. simple: neighbors with the "
                 "same label are one. first, average, max: words are, with the label of their "
                 "first token, of the mean of their tokens' scores, or of the highest score."});
  visit("ignore_labels", options.ignore_labels,
        {.help = "Labels that are not entities.", .items = "labels"});
  visit("window", options.window,
        {.help = "How to read a text with more tokens than the model takes at once. all: all of "
                 "it, in windows; of overlapping entities, the longest is kept, of equally long "
                 "ones the most probable. first: its beginning. Attention, traces, gradients, "
                 "patches and masked tokens need a text that fits one window."});
  visit("stride", options.stride, about_stride);
}

/// An entity in a text, such as the name of a person or a place.
struct Entity {
  std::string entity;
  float score;
  std::string word;
  std::uint32_t start, end;
  std::optional<std::size_t> index;

  bool operator==(const Entity&) const = default;
};

template <class Visit>
void fields(Visit& visit, const Entity& entity) {
  visit("entity", entity.entity,
        {.help = "Its label; of combined tokens without what stands before the first -."});
  visit("score", entity.score,
        {.help = "The label's probability; of combined tokens or words, the mean."});
  visit("word", entity.word,
        {.help = "The token as the vocabulary spells it, such as ##ton; of combined tokens, their "
                 "text."});
  visit("start", entity.start,
        {.help = "Where it begins in the text, in UTF-16 code units; in Python, in characters."});
  visit("end", entity.end, {.help = "Where it ends."});
  visit("index", entity.index,
        {.help = "The position of its token, where tokens are not combined."});
}

/// The entities of a text of T tokens.
struct TokenClassification {
  std::vector<Entity> entities;
  std::vector<InputToken> tokens;  ///< [T]
  std::size_t windows = 1;
  bool clipped;
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
};

template <class Visit>
void fields(Visit& visit, TokenClassification& result) {
  visit("entities", result.entities, {.help = "The entities, in the order of the text."});
  visit("tokens", result.tokens, about_tokens);
  visit("windows", result.windows, about_windows);
  visit("clipped", result.clipped, about_clipped);
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
  visit.gradients(std::move(result.gradients));
}

}  // namespace glassformer
