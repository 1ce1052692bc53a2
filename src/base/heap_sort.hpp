#pragma once

#include <algorithm>

namespace glassformer {

/// Sorts like std::sort, in a fifth of its code.
template <typename Iterator, typename Before>
void heap_sort(Iterator first, Iterator last, const Before& before) {
  std::make_heap(first, last, before);
  std::sort_heap(first, last, before);
}

}  // namespace glassformer
