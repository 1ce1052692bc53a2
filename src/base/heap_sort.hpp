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

/// Implements sorted_order.
std::vector<std::size_t> sorted_indices(std::size_t count,
                                        bool (*before)(const void* of, std::size_t a,
                                                       std::size_t b),
                                        const void* of);

/// Returns the indices [0, count) in the order that `before` gives for two of them; equal ones keep
/// theirs. All uses share one sort: a std::stable_sort of its own adds 1 kB to the download.
template <class Before>
std::vector<std::size_t> sorted_order(std::size_t count, const Before& before) {
  const auto call = [](const void* of, std::size_t a, std::size_t b) {
    return (*static_cast<const Before*>(of))(a, b);
  };
  return sorted_indices(count, call, &before);
}

/// Returns the indices of these numbers in ascending order.
inline std::vector<std::size_t> sorted_order(std::span<const float> numbers) {
  return sorted_order(numbers.size(),
                      [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
}

}  // namespace glassformer
