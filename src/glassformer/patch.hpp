#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace glassformer {

/// Numbers that take the place of a tensor's, or of some of them, before anything is made of it.
/// What comes after is made of them: a replaced query changes the scores, a replaced score the
/// weights. Replaced weights are not normalized. Keys that a query does not see stay unseen.
/// Replaced by their own values, in f32, tensors change no bit of the answer.
struct Patch {
  /// Indices; none: all.
  using Selection = std::optional<std::vector<std::size_t>>;

  std::string name;       ///< of one tensor, as in EncoderOptions::trace, without "*"
  Selection tokens = {};  ///< its rows, by their positions; of scores and weights the queries
  Selection heads = {};   ///< of tensors that have heads
  Selection keys = {};    ///< of scores and weights alone
  /// Of `value`: the tensor's, with as many tokens, heads and keys as are chosen. A decoder's may
  /// have fewer rows than steps; the others stay. One size: the numbers in a row, where at most one
  /// extent does not follow from the model and what is chosen. Empty: one number for all.
  std::vector<std::size_t> shape = {};
  std::vector<float> value = {};  ///< row-major; finite, or of scores -∞
};

}  // namespace glassformer
