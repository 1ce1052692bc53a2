#pragma once

#include <optional>

namespace glassformer {

/// What matrix products multiply: floats, or 8-bit integers. With those a row of activations
/// becomes 7-bit integers with a scale and a zero point of its own, and sums are exact: two to four
/// times as fast, a quarter of the memory, and answers that differ in the third digit.
enum class Compute { f32, int8 };

/// "f32" or "int8".
inline const char* to_string(Compute compute) { return compute == Compute::int8 ? "int8" : "f32"; }

/// How a model folder is opened.
struct LoadOptions {
  std::optional<Compute> compute = {};  ///< none: as the weights are stored
  /// Of translators: makes translations of those tokens alone that the folder's shortlist.bin
  /// offers for their source: faster, and now and then another translation. Log-probabilities are
  /// among those tokens.
  bool shortlist = false;
};

}  // namespace glassformer
