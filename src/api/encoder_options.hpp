#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace glassformer
