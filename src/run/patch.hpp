#pragma once

#include <cstddef>

#include "glassformer/attention.hpp"
#include "glassformer/patch.hpp"
#include "run/run.hpp"

namespace glassformer {

/// Replaces one of some rows, which is at this position of its sequence.
void replace_row(const Patch& patch, const CompleteRows& rows, std::size_t row,
                 std::size_t position);

/// A number of a map.
struct MapIndex {
  std::size_t query, head, key;
};

/// What replaces a score or weight; null: nothing does.
const float* find_value(const Patch& patch, const MapIndex& index);

/// What ablates a head: zeros in its context.
Patch ablation(const HeadIndex& head);

}  // namespace glassformer
