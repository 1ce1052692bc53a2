#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/attention.hpp"
#include "glassformer/patch.hpp"

namespace glassformer {

/// What may be asked of every task that an encoder does. Looking changes no number of the answer.
struct EncoderOptions {
  bool attention = false;  ///< return every attention weight
  /// Of classifiers: return what each token adds to each logit. Throws `unsupported` where the
  /// logits are no sum over tokens.
  bool contributions = false;
  /// Return the tensors of these names, such as "encoder.layers.0.self_attn.q" or "logits". "*"
  /// stands for any characters but a dot: "encoder.layers.*.output". A name that the model lacks is
  /// refused with those that it has.
  std::vector<std::string> trace = {};
  std::vector<Patch> patch = {};       ///< numbers to replace, one after the other
  std::vector<HeadIndex> ablate = {};  ///< heads whose output becomes zero
  /// Positions of tokens to treat as padding: not attended to and not pooled. A model that answers
  /// from its first token refuses to have that one masked.
  std::vector<std::size_t> mask_tokens = {};
};

/// How many tokens two windows of a long text share, if a call does not say: 128, or half of a
/// window if that is less.
inline constexpr std::size_t usual_stride = 128;

}  // namespace glassformer
