#pragma once

#include <cstddef>
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
  /// The number of threads that share the work of a call. 0: as many as the machine runs at the
  /// same time. They change no bit of a result. Any number of threads may call a loaded model; they
  /// share its weights, and while one call uses these threads, the others do their work alone.
  std::size_t threads = 0;
};

}  // namespace glassformer
