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

/// How token labels are combined into entities.
enum class Aggregation : std::uint8_t {
  none,     ///< one entity per token
  simple,   ///< adjacent tokens with the same tag
  first,    ///< words with the same tag; a word has the label of its first token
  average,  ///< words; the most probable label by the mean of its tokens' probabilities
  max,      ///< words; the label of the token whose best label is the most probable
};

/// How a TokenClassifier reads a text that has more tokens than the model takes at once.
enum class TokenClassifyWindow : std::uint8_t {
  all,    ///< all of it, in windows; if entities overlap, keeps the longer or more probable
  first,  ///< truncates it, as the model's configuration says, and reads one window
};

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

/// An entity in a text, such as the name of a person or a place.
struct Entity {
  std::string entity;        ///< the label; for combined tokens, without its prefix up to "-"
  float score;               ///< the label's probability; for combined tokens or words, their mean
  std::string word;          ///< the token; for combined tokens, their text
  std::uint32_t start, end;  ///< position in the text, in UTF-16 code units
  std::optional<std::size_t> index;  ///< position of the token, with Aggregation::none

  bool operator==(const Entity&) const = default;
};

/// The entities of a text of T tokens.
struct TokenClassification {
  std::vector<Entity> entities;           ///< in the order of the text
  std::vector<InputToken> tokens;         ///< [T] the tokens that the model read
  std::size_t windows = 1;                ///< number of windows that it read
  bool clipped;                           ///< whether the text was longer than what it read
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
};

}  // namespace glassformer
