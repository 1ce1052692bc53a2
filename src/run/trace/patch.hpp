#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace glassformer {

/// What a patch does with the numbers of a tensor, x.
enum class PatchKind {
  replace,  ///< x becomes `value`
  /// x becomes x + scale · value, in each selected row (steering: Turner et al. 2023, "Activation
  /// Addition").
  add,
  /// x becomes x - scale · (x · v) v / ‖v‖², v = `value`: with scale 1, a row has nothing left in
  /// this direction (Arditi et al. 2024, "Refusal in Language Models Is Mediated by a Single
  /// Direction", equation 4).
  remove,
};

/// Numbers that replace those of a tensor, or some of them, or change them, before they are used.
/// Everything computed from them changes: a replaced query changes the scores, a replaced score the
/// weights. Replaced weights are not normalized. Keys that a query does not see stay unseen. In
/// f32, replacing a tensor by its own values does not change a bit of the result.
struct Patch {
  /// Indices; not set: all.
  using Selection = std::optional<std::vector<std::size_t>>;

  std::string name;       ///< of one tensor, as in EncoderOptions::trace, without "*"
  Selection tokens = {};  ///< rows, by their positions; queries of scores and weights
  Selection heads = {};   ///< for tensors that have heads
  Selection keys = {};    ///< for scores and weights only
  PatchKind kind = PatchKind::replace;
  float scale = 1;  ///< to add or remove
  /// To add or remove: only rows from this position on, such as those of new tokens. Those before
  /// keep what they have, in caches of keys and values, too.
  std::size_t from = 0;
  /// The shape of `value`. To add or remove: any, with as many numbers as a row has in the selected
  /// heads. To replace: the tensor's, with as many tokens, heads and keys as are selected. For a
  /// decoder it may have fewer rows than there are steps; the others stay unchanged. One size: all
  /// numbers in a row, if at most one extent does not follow from the model and the selection.
  /// Empty: one number for all.
  std::vector<std::size_t> shape = {};
  std::vector<float> value = {};  ///< row-major; finite, or -∞ for scores
};

}  // namespace glassformer
