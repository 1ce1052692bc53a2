#pragma once

#include <optional>

#include "kernels/compute.hpp"

namespace glassformer {

/// Options for opening a model folder.
struct LoadOptions {
  std::optional<Compute> compute = {};  ///< default: as the weights are stored
  /// For translators: restricts translations to the tokens that the folder's shortlist.bin contains
  /// for their source. This is faster, and occasionally gives a different translation.
  /// Log-probabilities are relative to those tokens.
  bool shortlist = false;
};

}  // namespace glassformer
