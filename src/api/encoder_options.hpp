#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/option.hpp"
#include "run/attention_map.hpp"
#include "run/trace/patch.hpp"

namespace glassformer {

/// Options of all tasks that use an encoder. Returning additional data does not change the result.
struct EncoderOptions {
  bool attention = false;  ///< return all attention weights
  /// For classifiers: return what each token adds to each logit. Throws `unsupported` if the logits
  /// are not a sum over tokens.
  bool contributions = false;
  /// Return the tensors with these names, such as "encoder.layers.0.self_attn.q" or "logits". "*"
  /// stands for any characters except a dot: "encoder.layers.*.output". The error for an unknown
  /// name lists the names that the model has.
  std::vector<std::string> trace = {};
  /// Return the gradients of the answer with respect to the tensors with these names. The answer is
  /// a number computed from the logits: the log-odds of two labels; a label's logit minus the mean
  /// of all; a single logit; of a question, the logits of the answer's first and last token. Only
  /// with compute f32.
  std::vector<std::string> gradients = {};
  /// For labels of tokens: the token whose label the gradients explain. Default: the first that is
  /// not special.
  std::optional<std::size_t> gradient_token = {};
  std::vector<Patch> patch = {};       ///< numbers to replace, applied in order
  std::vector<HeadIndex> ablate = {};  ///< heads whose output becomes zero
  /// Positions of tokens to treat as padding: not attended to and not pooled. If a model answers
  /// from its first token, that token cannot be masked.
  std::vector<std::size_t> mask_tokens = {};
};

/// The default number of tokens that two windows of a long text share: 128, or half of a window if
/// that is less.
inline constexpr std::size_t usual_stride = 128;

// What several tasks say of the same options.
inline constexpr Option about_attention = {.help = "Return the attention weights of all heads.",
                                           .adds = true};
inline constexpr Option about_trace = {
    .help =
        "Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands "
        "for any characters except dots: encoder.layers.*.output. The error for an unknown "
        "name lists those that the model has. Tracing does not change the answer.",
    .items = "names of tensors",
    .adds = true};
inline constexpr Option about_gradients = {
    .help =
        "Names of tensors: return the gradient of the answer with respect to each of them, for "
        "a model that computes with floats. The answer is a number computed from the logits. "
        "With two labels, it is the log-odds of the predicted one; with more, its logit minus "
        "the mean of all; with one, its logit. For labels of tokens, it is the same for one "
        "token. For a question, it is the sum of the logits of the answer's first and last "
        "token.",
    .items = "names of tensors",
    .adds = true};
inline constexpr Option about_patch = {
    .help =
        "Changes of traced tensors, or of parts of them, before anything is computed from them: "
        "numbers that replace theirs, or a direction that is added to each row or removed from it. "
        "In order: a later patch sees what an earlier one has changed."};
inline constexpr Option about_ablate = {
    .help =
        "Heads whose output becomes zero before the output projection. Layers and heads count "
        "from 0.",
    .items = "heads"};
inline constexpr Option about_mask_tokens = {
    .help =
        "Positions of tokens to treat as padding: they are neither attended to nor pooled. A "
        "model that answers from its first or last token refuses to mask that one.",
    .items = "positions of tokens"};
inline constexpr Option about_stride = {
    .help = "The number of tokens that two neighboring windows share.",
    .absent = "128, or half of a window if that is less"};

template <class Visit>
void fields(Visit& visit, EncoderOptions& options) {
  visit("attention", options.attention, about_attention);
  visit("trace", options.trace, about_trace);
  visit("patch", options.patch, about_patch);
  visit("ablate", options.ablate, about_ablate);
  visit("mask_tokens", options.mask_tokens, about_mask_tokens);
}

}  // namespace glassformer
