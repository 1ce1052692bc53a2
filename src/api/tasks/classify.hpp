#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/label_score.hpp"
#include "api/tokens.hpp"
#include "base/fields.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// How a Classifier reads a text that has more tokens than the model takes at once.
enum class ClassifyWindow : std::uint8_t {
  first,  ///< truncates it, as the model's configuration says, and reads one window
  mean,   ///< reads all of it in windows; a label's score is the mean of its scores in the windows
  max,    ///< as mean, but with the highest of the scores
};

template <>
inline constexpr std::array enum_names<ClassifyWindow>{"first", "mean", "max"};

/// Options of a Classifier's calls.
struct ClassifyOptions {
  EncoderOptions encoder = {};
  ClassifyWindow window = ClassifyWindow::first;
  /// With `mean` and `max`: how many tokens of a window are read again in the next one; fewer than
  /// a window has. Default: `usual_stride`.
  std::optional<std::size_t> stride = {};
};

template <class Visit>
void fields(Visit& visit, ClassifyOptions& options) {
  fields(visit, options.encoder);
  visit("gradients", options.encoder.gradients, about_gradients);
  visit("contributions", options.encoder.contributions,
        {.help = "Return what each token adds to each label's logit.", .adds = true});
  visit("window", options.window,
        {.help = "How to read a text with more tokens than the model takes at once. first: its "
                 "beginning. mean, max: all of it, in windows; a label's score is the mean or the "
                 "maximum of its scores in the windows. Attention, contributions, traces, "
                 "gradients, patches and masked tokens need a text that fits one window."});
  visit("stride", options.stride, about_stride);
}

/// The labels of a text of T tokens. The model has L layers with H heads, and C labels.
struct Classification {
  std::string label;
  float score;
  std::vector<float> scores;       ///< [C] per label, in the order of Classifier::labels
  std::vector<float> logits;       ///< [C]
  std::vector<InputToken> tokens;  ///< [T]
  std::size_t windows = 1;
  bool clipped;
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if requested
  /// The same of a decoder, to its own rows and to the encoder's, if the model has one. It reads
  /// the text shifted by one token: its row t has token t - 1.
  std::optional<AttentionMap> decoder_attention, cross_attention;
  std::vector<TracedTensor> trace;      ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;  ///< of the answer, in the order of the run
  std::vector<float> contributions;     ///< [T, C]; empty if not requested
};

template <class Visit>
void fields(Visit& visit, Classification& result, std::span<const std::string> labels) {
  visit("label", result.label, about_label);
  visit("score", result.score, about_label_score);
  visit.scores(labels, result.scores, result.logits, {}, about_scores);
  visit("tokens", result.tokens, about_tokens);
  visit("windows", result.windows, about_windows);
  visit("clipped", result.clipped, about_clipped);
  visit.table("contributions", labels.size(), std::move(result.contributions), about_contributions);
  visit.attention({&result.attention, &result.decoder_attention, &result.cross_attention});
  visit.trace(std::move(result.trace));
  visit.gradients(std::move(result.gradients));
}

}  // namespace glassformer
