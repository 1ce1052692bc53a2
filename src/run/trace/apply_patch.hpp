#pragma once

#include <cstddef>

#include "run/attention_map.hpp"
#include "run/run.hpp"
#include "run/trace/patch.hpp"

namespace glassformer {

/// Applies a patch to row `row` of `rows`, which is at `position` in its sequence.
void apply_to_row(const Patch& patch, const CompleteRows& rows, std::size_t row,
                  std::size_t position);

/// The index of a value in a map.
struct MapIndex {
  std::size_t query, head, key;
};

/// Returns the number that replaces a score or weight, or null if the patch does not replace it.
const float* find_value(const Patch& patch, const MapIndex& index);

/// Returns the patch that ablates a head by setting its context to zero.
Patch ablation(const HeadIndex& head);

}  // namespace glassformer
