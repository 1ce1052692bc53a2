#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace glassformer {

/// Numbers that replace those of a tensor, or some of them, before they are used. Everything
/// computed from them changes: a replaced query changes the scores, a replaced score the weights.
/// Replaced weights are not normalized. Keys that a query does not see stay unseen. In f32,
/// replacing a tensor by its own values does not change a bit of the result.
struct Patch {
  /// Indices; not set: all.
  using Selection = std::optional<std::vector<std::size_t>>;

  std::string name;       ///< of one tensor, as in EncoderOptions::trace, without "*"
  Selection tokens = {};  ///< rows, by their positions; queries of scores and weights
  Selection heads = {};   ///< for tensors that have heads
  Selection keys = {};    ///< for scores and weights only
  /// The shape of `value`: the tensor's, with as many tokens, heads and keys as are selected. For a
  /// decoder it may have fewer rows than there are steps; the others stay unchanged. One size: all
  /// numbers in a row, if at most one extent does not follow from the model and the selection.
  /// Empty: one number for all.
  std::vector<std::size_t> shape = {};
  std::vector<float> value = {};  ///< row-major; finite, or -∞ for scores
};

}  // namespace glassformer
