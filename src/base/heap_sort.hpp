#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace glassformer {

/// Sorts like std::sort, with a fifth of its code size.
template <typename Iterator, typename Before>
void heap_sort(Iterator first, Iterator last, const Before& before) {
  std::make_heap(first, last, before);
  std::sort_heap(first, last, before);
}

/// Returns the indices of these numbers in ascending order; equal numbers keep theirs. None may be
/// NaN. std::stable_sort would add 1 kB to the download per use.
inline std::vector<std::size_t> sorted_order(std::span<const float> numbers) {
  std::vector<std::size_t> order(numbers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  heap_sort(order.begin(), order.end(), [numbers](std::size_t a, std::size_t b) {
    return numbers[a] != numbers[b] ? numbers[a] < numbers[b] : a < b;
  });
  return order;
}

}  // namespace glassformer
