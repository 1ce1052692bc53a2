#pragma once

#include <algorithm>

namespace glassformer {

/// Sorts like std::sort, with a fifth of its code size.
template <typename Iterator, typename Before>
void heap_sort(Iterator first, Iterator last, const Before& before) {
  std::make_heap(first, last, before);
  std::sort_heap(first, last, before);
}

}  // namespace glassformer
